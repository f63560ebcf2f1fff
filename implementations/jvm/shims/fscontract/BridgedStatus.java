package fscontract;

import org.apache.hadoop.fs.EtagSource;

/** A status of Python's: what it says of the version of the file gets back there with it. */
public interface BridgedStatus extends EtagSource {
  /** The status in Python; null if this one was serialized in between. */
  PythonObject python();
}
