package fscontract;

import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.LocatedFileStatus;

/** A Python status with the blocks of its file. */
public class BridgedLocatedFileStatus extends LocatedFileStatus implements BridgedStatus {
  private final String etag;
  private final transient PythonObject python;

  public BridgedLocatedFileStatus(BridgedFileStatus status, BlockLocation[] blocks) {
    super(status, blocks);
    this.etag = status.getEtag();
    this.python = status.python();
  }

  public String getEtag() {
    return etag;
  }

  public PythonObject python() {
    return python;
  }
}
