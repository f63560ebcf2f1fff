package fscontract;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;

/** A file that Python writes, as a stream to write to. */
public class BridgedOutputStream extends OutputStream {
  private final PythonWriter python;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Lanes lanes = new Lanes();

  public BridgedOutputStream(PythonWriter python) {
    this.python = python;
  }

  public void write(int one) throws IOException {
    write(new byte[] {(byte) one}, 0, 1);
  }

  public void write(byte[] source, int offset, int length) throws IOException {
    int done = 0;
    while (done < length) {
      ByteBuffer lane = lanes.take(length - done);
      int count = lane.remaining();
      lane.put(source, offset + done, count);
      python.write(lane, count);
      lanes.give(lane);
      done += count;
    }
  }

  public void close() throws IOException {
    if (closed.compareAndSet(false, true)) {
      lanes.drop();
      python.close();
    }
  }
}
