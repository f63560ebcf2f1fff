package fscontract;

import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/** A status of Python's: what it says of the version of the file gets back there with it. */
public class BridgedFileStatus extends FileStatus implements EtagSource {
  private final String etag;
  private final transient PythonObject python;

  public BridgedFileStatus(
      String path,
      long length,
      boolean directory,
      long blockSize,
      long time,
      String etag,
      PythonObject python) {
    super(length, directory, 1, blockSize, time, new Path(null, null, path));
    this.etag = etag;
    this.python = python;
  }

  /** The entity tag, or null. */
  public String getEtag() {
    return etag;
  }

  /** The status in Python; null if this one was serialized in between. */
  public PythonObject python() {
    return python;
  }
}
