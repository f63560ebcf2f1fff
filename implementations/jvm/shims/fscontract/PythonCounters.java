package fscontract;

import java.util.Map;

/** Whatever counts what it does; Python implements it. */
public interface PythonCounters {
  /** The counters by their names, as they are now. */
  Map getIOStatistics();
}
