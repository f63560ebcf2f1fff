package fscontract;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReference;

/** Direct buffers on which bytes cross from Python: one is kept for the next call. */
public class Lanes {
  /** The most bytes that cross in one call. */
  public static final int LARGEST = 16 << 20;

  private static final int SMALLEST = 8 << 10;

  private final AtomicReference spare = new AtomicReference();

  /** A buffer that nobody else has, for so many bytes or LARGEST. */
  public ByteBuffer take(int length) {
    int wanted = Math.min(length, LARGEST);
    ByteBuffer lane = (ByteBuffer) spare.getAndSet(null);
    if (lane == null || lane.capacity() < wanted) {
      lane = ByteBuffer.allocateDirect(capacity(wanted));
    }
    lane.clear();
    lane.limit(wanted);
    return lane;
  }

  /** Takes a buffer back that nobody writes to any more. */
  public void give(ByteBuffer lane) {
    spare.set(lane);
  }

  /** Keeps nothing. */
  public void drop() {
    spare.set(null);
  }

  private static int capacity(int wanted) {
    int capacity = SMALLEST;
    while (capacity < wanted) {
      capacity <<= 1;
    }
    return capacity;
  }
}
