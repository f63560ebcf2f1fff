package faulty;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/** A status whose methods may fail. */
public class FaultyStatus extends FileStatus {
  public FaultyStatus(FileStatus status) {
    super(status.getLen(), status.isDirectory(), 1, 512, 0, status.getPath());
  }

  public long getLen() {
    Calls.isNull();
    return super.getLen();
  }

  public boolean isDirectory() {
    Calls.isNull();
    return super.isDirectory();
  }

  public long getBlockSize() {
    Calls.isNull();
    return super.getBlockSize();
  }

  public Path getPath() {
    return Calls.isNull() ? null : super.getPath();
  }
}
