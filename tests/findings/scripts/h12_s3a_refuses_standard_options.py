"""H12: S3A 3.3.3 refuses a mandatory standard option of openFile(). Needs jpype1."""

import os

import bodo_iceberg_connector
import jpype

jars = os.path.join(os.path.dirname(bodo_iceberg_connector.__file__), "jars", "libs", "*")
jpype.startJVM(classpath=[jars])
configuration = jpype.JClass("org.apache.hadoop.conf.Configuration")()
configuration.set("fs.s3a.bucket.probe", "0")  # sends no request
configuration.set("fs.s3a.access.key", "any")
configuration.set("fs.s3a.secret.key", "any")
path = jpype.JClass("org.apache.hadoop.fs.Path")("s3a://bucket/key")
builder = path.getFileSystem(configuration).openFile(path)
try:
    seen = builder.must("fs.option.openfile.read.policy", "random").build()
except jpype.JException as error:
    seen = error
assert not isinstance(seen, jpype.JException), repr(seen)
