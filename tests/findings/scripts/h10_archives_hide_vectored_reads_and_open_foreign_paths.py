"""H10: archives do not declare vectored reads, and open paths of other filesystems."""

from hadoop import IOException, JClass, Path, outcome
from hadoop_archive import archive, har

declared = har.open(Path(f"{archive}/it")).hasCapability("in:readvectored")
builder = har.openFile(Path(f"gopher://host{archive}/it"))
read = outcome(lambda: builder.build().get().read())
names = "java.lang.IllegalArgumentException", "java.util.concurrent.ExecutionException"
refused = IOException, *map(JClass, names)
assert declared and isinstance(read, refused), (declared, read)
