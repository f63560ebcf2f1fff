package fscontract;

import java.util.Map;

/** Source of counters, implemented in Python. */
public interface PythonCounters {
  /** Returns the current counters by name. */
  Map getIOStatistics();
}
