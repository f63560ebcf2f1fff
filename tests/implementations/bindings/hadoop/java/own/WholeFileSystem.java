package own;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** A filesystem whose streams are its own: each holds the whole file. */
public class WholeFileSystem extends RawLocalFileSystem {
  public FSDataInputStream open(Path path, int size) throws IOException {
    File file = new File(path.toUri().getPath());
    return new FSDataInputStream(new WholeStream(Files.readAllBytes(file.toPath())));
  }
}
