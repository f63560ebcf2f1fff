package fscontract;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.fs.statistics.StreamStatisticNames;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsBinding;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsStore;

/** A file written in Python, as an output stream. Counts the bytes that Python has accepted. */
public class BridgedOutputStream extends OutputStream
    implements StreamCapabilities, IOStatisticsSource {
  private final PythonWriter python;
  private final String path;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Lanes lanes = new Lanes();
  private final IOStatisticsStore statistics =
      IOStatisticsBinding.iostatisticsStore()
          .withCounters(new String[] {StreamStatisticNames.STREAM_WRITE_BYTES})
          .build();

  public BridgedOutputStream(PythonWriter python, String path) {
    this.python = python;
    this.path = path;
  }

  public void write(int one) throws IOException {
    write(new byte[] {(byte) one}, 0, 1);
  }

  public void write(byte[] source, int offset, int length) throws IOException {
    if (closed.get()) {
      throw new PathIOException(path, "the stream is closed");
    }
    if (offset < 0 || length < 0 || length > source.length - offset) {
      throw new IndexOutOfBoundsException(
          length + " bytes from " + offset + " of an array of " + source.length);
    }
    int done = 0;
    while (done < length) {
      ByteBuffer lane = lanes.take(length - done);
      int count = lane.remaining();
      lane.put(source, offset + done, count);
      python.write(lane, count);
      lanes.give(lane);
      statistics.incrementCounter(StreamStatisticNames.STREAM_WRITE_BYTES, count);
      done += count;
    }
  }

  public void close() throws IOException {
    if (closed.compareAndSet(false, true)) {
      lanes.drop();
      python.close();
    }
  }

  public boolean hasCapability(String name) {
    return StreamCapabilities.IOSTATISTICS.equalsIgnoreCase(name);
  }

  public IOStatistics getIOStatistics() {
    return statistics;
  }

  public String toString() {
    return path + " " + statistics;
  }
}
