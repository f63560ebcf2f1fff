"""H8: LocalFileSystem refuses an empty range at the end."""

import jpype
from hadoop import JClass, local, outcome, path, raw

create = JClass("org.apache.hadoop.fs.FileRange").createFileRange
allocate = {"apply": JClass("java.nio.ByteBuffer").allocate}
allocator = jpype.JProxy("java.util.function.IntFunction", dict=allocate)


def read(filesystem):
    ranges = JClass("java.util.ArrayList")()
    ranges.add(create(jpype.JLong(10_000), jpype.JInt(0)))
    filesystem.open(path).readVectored(ranges, allocator)
    return ranges.get(0).getData().get().remaining()


seen = [outcome(lambda: read(raw)), outcome(lambda: read(local))]
assert seen == [0, 0], seen
