package faulty;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.FutureDataInputStreamBuilderImpl;

/** A builder whose methods and future may fail. */
public class FaultyBuilder extends FutureDataInputStreamBuilderImpl {
  private final FileSystem filesystem;
  private final Path path;

  public FaultyBuilder(FileSystem filesystem, Path path) {
    super(filesystem, path);
    this.filesystem = filesystem;
    this.path = path;
  }

  public FutureDataInputStreamBuilder getThisBuilder() {
    return this;
  }

  public FutureDataInputStreamBuilder builder() {
    return this;
  }

  public FutureDataInputStreamBuilder withFileStatus(FileStatus status) {
    return Calls.isNull() ? null : super.withFileStatus(status);
  }

  public CompletableFuture build() throws IOException {
    if (Calls.isNull()) {
      return null;
    }
    CompletableFuture made =
        new CompletableFuture() {
          public Object get() throws InterruptedException, ExecutionException {
            return Calls.isNull() ? null : super.get();
          }
        };
    made.complete(filesystem.open(path, 4096));
    return made;
  }
}
