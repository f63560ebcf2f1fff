package own;

import java.io.IOException;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** A filesystem that sets an option of the builder of its base class. */
public class DelegatingFileSystem extends RawLocalFileSystem {
  public FutureDataInputStreamBuilder openFile(Path path) throws IOException {
    FutureDataInputStreamBuilder builder = super.openFile(path);
    builder.opt("fs.option.openfile.read.policy", "sequential");
    return builder;
  }
}
