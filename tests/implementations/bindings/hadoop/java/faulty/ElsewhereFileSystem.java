package faulty;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** A filesystem whose statuses have another scheme and directory, but the file's name. */
public class ElsewhereFileSystem extends FilterFileSystem {
  public ElsewhereFileSystem(Configuration conf) throws IOException {
    super(new RawLocalFileSystem());
    initialize(URI.create("file:///"), conf);
  }

  public FileStatus getFileStatus(Path path) throws IOException {
    FileStatus found = super.getFileStatus(path);
    found.setPath(new Path("odd://other/elsewhere/" + path.getName()));
    return found;
  }
}
