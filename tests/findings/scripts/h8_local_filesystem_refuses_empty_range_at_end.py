"""H8: LocalFileSystem refuses an empty range at the end."""

import jpype
from hadoop import JClass, local, path, raises, raw

ranges = JClass("java.util.ArrayList")()
create = JClass("org.apache.hadoop.fs.FileRange").createFileRange
ranges.add(create(jpype.JLong(10_000), jpype.JInt(0)))
allocate = {"apply": JClass("java.nio.ByteBuffer").allocate}
allocator = jpype.JProxy("java.util.function.IntFunction", dict=allocate)
raw.open(path).readVectored(ranges, allocator)
error = "java.io.EOFException"  # expected no bytes
assert raises(error, lambda: local.open(path).readVectored(ranges, allocator))
