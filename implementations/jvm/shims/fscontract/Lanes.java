package fscontract;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReference;

/** Direct buffers for transfers from Python; one is kept for the next call. */
public class Lanes {
  /** Maximum bytes transferred in one call. */
  public static final int LARGEST = 16 << 20;

  private static final int SMALLEST = 8 << 10;

  private final AtomicReference spare = new AtomicReference();

  /** Returns an unused buffer of the given size, at most LARGEST. */
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

  /** Takes back a buffer that is no longer written to. */
  public void give(ByteBuffer lane) {
    spare.set(lane);
  }

  /** Drops the kept buffer. */
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
