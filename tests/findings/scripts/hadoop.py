"""Hadoop's filesystems in a JVM, and a file of 10,000 bytes, for the scripts of H1 to H20."""

import glob
import os
import tempfile

import jpype
import pyspark
from jpype import JArray, JByte, JClass

jars = os.path.join(os.path.dirname(pyspark.__file__), "jars", "*.jar")
jpype.startJVM(classpath=glob.glob(jars))
Configuration = JClass("org.apache.hadoop.conf.Configuration")
FileContext = JClass("org.apache.hadoop.fs.FileContext")
FileSystem = JClass("org.apache.hadoop.fs.FileSystem")
Path = JClass("org.apache.hadoop.fs.Path")
URI = JClass("java.net.URI")
local = FileSystem.getLocal(Configuration())
raw = local.getRaw()
directory = tempfile.TemporaryDirectory()
path = Path(f"{directory.name}/file")


def buffer(size):
    return JArray(JByte)(size)


def filesystem(uri, **options):
    configuration = Configuration()
    for name, value in options.items():
        configuration.set(name.replace("_", "."), value)
    return FileSystem.newInstance(URI.create(uri), configuration)


def write(path, size):
    with local.create(path, True) as f:
        f.write(buffer(size))


def sockets():
    found = set()
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{descriptor}")
        except FileNotFoundError:
            continue
        if target.startswith("socket:"):
            found.add(target)
    return found


def raises(name, call):
    try:
        call()
    except JClass(name):
        return True
    return False


write(path, 10_000)
