"""H11: FileContext reports an unknown filesystem in build()."""

from hadoop import FileContext, JClass, Path, outcome

builder = FileContext.getFileContext().openFile(Path("gopher://host/file"))
builder.must("fs.unknown.key", "1")
seen = outcome(builder.build)
assert isinstance(seen, JClass("java.lang.IllegalArgumentException")), repr(seen)
