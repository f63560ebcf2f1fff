package fscontract;

import java.util.Collections;
import java.util.Map;
import org.apache.hadoop.fs.statistics.IOStatistics;

/** Counters of a Python object, read on each call. */
public class BridgedStatistics implements IOStatistics {
  private final PythonCounters python;

  public BridgedStatistics(PythonCounters python) {
    this.python = python;
  }

  public Map counters() {
    return python.getIOStatistics();
  }

  public Map gauges() {
    return Collections.emptyMap();
  }

  public Map minimums() {
    return Collections.emptyMap();
  }

  public Map maximums() {
    return Collections.emptyMap();
  }

  public Map meanStatistics() {
    return Collections.emptyMap();
  }

  public String toString() {
    return "counters=" + counters();
  }
}
