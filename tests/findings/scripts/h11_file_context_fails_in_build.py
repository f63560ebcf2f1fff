"""H11: FileContext reports an unknown filesystem in build()."""

from hadoop import FileContext, Path, raises

builder = FileContext.getFileContext().openFile(Path("gopher://host/file"))
error = "org.apache.hadoop.fs.UnsupportedFileSystemException"  # expected from the future
assert raises(error, builder.build)
