package faulty;

/** An exception none of whose methods works. */
public class OddException extends RuntimeException {
  public String getMessage() {
    throw new IllegalStateException("no message");
  }

  public Throwable getCause() {
    throw new IllegalStateException("no cause");
  }

  public String toString() {
    throw new IllegalStateException("no text");
  }
}
