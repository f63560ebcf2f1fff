package fscontract;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.ByteBufferPositionedReadable;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.CanUnbuffer;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;

/** A Python stream as a Hadoop stream: every call is delegated, without buffering. */
public class BridgedInputStream extends FSInputStream
    implements ByteBufferReadable,
        ByteBufferPositionedReadable,
        CanUnbuffer,
        StreamCapabilities,
        IOStatisticsSource {

  private static final Consumer NO_RELEASE =
      new Consumer() {
        public void accept(Object buffer) {}
      };

  private final PythonStream python;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Lanes lanes = new Lanes();
  /** The position when the stream was closed; null while it is open. */
  private volatile Long last;

  public BridgedInputStream(PythonStream python) {
    this.python = python;
  }

  public void close() throws IOException {
    if (closed.compareAndSet(false, true)) {
      lanes.drop();
      try {
        last = Long.valueOf(python.getPos());
      } catch (IOException e) {
        // closed in Python: no position to keep
      } finally {
        python.close();
      }
    }
  }

  /** Returns the position, also of a closed stream, as Hadoop's tests of unbuffer() require. */
  public long getPos() throws IOException {
    Long kept = last;
    return kept == null ? python.getPos() : kept.longValue();
  }

  public void seek(long position) throws IOException {
    python.seek(position);
  }

  public boolean seekToNewSource(long position) throws IOException {
    return python.seekToNewSource(position);
  }

  public long skip(long count) throws IOException {
    return python.skip(count);
  }

  public int available() throws IOException {
    return python.available();
  }

  public int read() throws IOException {
    return python.readByte();
  }

  public int read(byte[] target, int offset, int length) throws IOException {
    if (!fits(target, offset, length)) {
      return python.read(null, size(target), offset, length);
    }
    ByteBuffer lane = lanes.take(length);
    int count = python.read(lane, target.length, offset, lane.remaining());
    deliver(lane, count, target, offset);
    return count;
  }

  public int read(long position, byte[] target, int offset, int length) throws IOException {
    if (!fits(target, offset, length)) {
      return python.pread(position, null, size(target), offset, length);
    }
    ByteBuffer lane = lanes.take(length);
    int count = python.pread(position, lane, target.length, offset, lane.remaining());
    deliver(lane, count, target, offset);
    return count;
  }

  public void readFully(long position, byte[] target, int offset, int length) throws IOException {
    if (!fits(target, offset, length)) {
      python.readFully(position, null, size(target), offset, length);
      return;
    }
    int done = 0;
    do {
      ByteBuffer lane = lanes.take(length - done);
      int count = lane.remaining();
      python.readFully(position + done, lane, target.length, offset + done, count);
      deliver(lane, count, target, offset + done);
      done += count;
    } while (done < length);
  }

  public int read(ByteBuffer target) throws IOException {
    if (target == null) {
      return python.readBuffer(null, 0);
    }
    ByteBuffer place = place(target);
    int count = python.readBuffer(place, place.remaining());
    fill(target, place, count);
    return count;
  }

  public int read(long position, ByteBuffer target) throws IOException {
    if (target == null) {
      return python.preadBuffer(position, null, 0);
    }
    ByteBuffer place = place(target);
    int count = python.preadBuffer(position, place, place.remaining());
    fill(target, place, count);
    return count;
  }

  public void readFully(long position, ByteBuffer target) throws IOException {
    if (target == null) {
      python.readFullyBuffer(position, null, 0);
      return;
    }
    ByteBuffer rest = (ByteBuffer) target.duplicate();
    do {
      ByteBuffer place = place(rest);
      int count = place.remaining();
      python.readFullyBuffer(position + rest.position() - target.position(), place, count);
      fill(rest, place, count);
    } while (rest.hasRemaining());
    target.position(target.limit());
  }

  public void readVectored(List ranges, IntFunction allocate) throws IOException {
    python.readVectored(ranges, allocate, NO_RELEASE);
  }

  public void readVectored(List ranges, IntFunction allocate, Consumer release)
      throws IOException {
    python.readVectored(ranges, allocate, release);
  }

  public void unbuffer() {
    lanes.drop();
    python.unbuffer();
  }

  public boolean hasCapability(String name) {
    return python.hasCapability(name);
  }

  public IOStatistics getIOStatistics() {
    return new BridgedStatistics(python);
  }

  public String toString() {
    return python.describe();
  }

  /** Returns a buffer for Python to fill: the target itself if it is direct. */
  private ByteBuffer place(ByteBuffer target) {
    if (target.isReadOnly()) {
      throw new ReadOnlyBufferException();
    }
    return target.isDirect() ? (ByteBuffer) target.slice() : lanes.take(target.remaining());
  }

  /** Copies bytes from a lane to the target, and advances the target's position. */
  private void fill(ByteBuffer target, ByteBuffer place, int count) {
    if (target.isDirect()) {
      target.position(target.position() + Math.max(count, 0));
      return;
    }
    place.limit(Math.max(count, 0));
    target.put(place);
    lanes.give(place);
  }

  /** Copies bytes from a lane, and returns the lane; not called after a failed read. */
  private void deliver(ByteBuffer lane, int count, byte[] target, int offset) {
    if (count > 0) {
      lane.get(target, offset, count);
    }
    lanes.give(lane);
  }

  private static boolean fits(byte[] target, int offset, int length) {
    return target != null && offset >= 0 && length >= 0 && length <= target.length - offset;
  }

  private static int size(byte[] target) {
    return target == null ? -1 : target.length;
  }
}
