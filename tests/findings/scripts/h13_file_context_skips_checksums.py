"""H13: FileContext opens local files without their checksums."""

from hadoop import URI, Configuration, FileContext, directory, local, path, raises

with open(f"{directory.name}/file", "r+b") as f:
    f.write(b"\x07")  # a corrupt byte
context = FileContext.getFileContext(URI.create("file:///"), Configuration())
error = "org.apache.hadoop.fs.ChecksumException"
assert raises(error, lambda: local.open(path).read())
assert raises(error, lambda: context.open(path, 4096).read())
assert context.open(path).read() == 7  # expected ChecksumException
assert context.openFile(path).build().get().read() == 7  # expected ChecksumException
