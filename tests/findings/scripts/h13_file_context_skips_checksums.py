"""H13: FileContext opens local files without their checksums."""

from hadoop import URI, Configuration, FileContext, JClass, directory, outcome, path

with open(f"{directory.name}/file", "r+b") as f:
    f.write(b"\x07")  # a corrupt byte
context = FileContext.getFileContext(URI.create("file:///"), Configuration())
seen = [
    outcome(lambda: context.open(path).read()),
    outcome(lambda: context.openFile(path).build().get().read()),
]
error = JClass("org.apache.hadoop.fs.ChecksumException")
assert all(isinstance(each, error) for each in seen), seen
