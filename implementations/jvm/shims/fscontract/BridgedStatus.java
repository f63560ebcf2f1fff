package fscontract;

import org.apache.hadoop.fs.EtagSource;

/** A status from Python, which passes the version of the file back to Python. */
public interface BridgedStatus extends EtagSource {
  /** Returns the Python status; null after serialization. */
  PythonObject python();
}
