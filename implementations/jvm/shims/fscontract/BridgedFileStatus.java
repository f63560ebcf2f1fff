package fscontract;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/** A Python status as a Hadoop status. */
public class BridgedFileStatus extends FileStatus implements BridgedStatus {
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

  public String getEtag() {
    return etag;
  }

  public PythonObject python() {
    return python;
  }
}
