package own;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** A filesystem whose streams call those of another one. */
public class WrappingFileSystem extends FilterFileSystem {
  public WrappingFileSystem() {
    super(new RawLocalFileSystem());
  }

  public FSDataInputStream open(Path path, int size) throws IOException {
    return new FSDataInputStream(new WrappingStream(super.open(path, size)));
  }
}
