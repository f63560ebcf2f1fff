"""Hadoop's filesystems in a JVM, and a file of 10,000 bytes, for the scripts of H1 to H20."""

import os
import tempfile

import jpype
import pyspark
from jpype import JArray, JByte, JClass

jars = os.path.join(os.path.dirname(pyspark.__file__), "jars", "*")
jpype.startJVM("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", classpath=[jars])
Configuration = JClass("org.apache.hadoop.conf.Configuration")
FileContext = JClass("org.apache.hadoop.fs.FileContext")
FileSystem = JClass("org.apache.hadoop.fs.FileSystem")
IOException = JClass("java.io.IOException")
Path = JClass("org.apache.hadoop.fs.Path")
URI = JClass("java.net.URI")
local = FileSystem.getLocal(Configuration())
raw = local.getRaw()
directory = tempfile.TemporaryDirectory()
path = Path(f"{directory.name}/file")


def buffer(size):
    return JArray(JByte)(size)


def write(path, size):
    with local.create(path, True) as f:
        f.write(buffer(size))


def outcome(call):
    try:
        return call()
    except Exception as error:
        return error


write(path, 10_000)
