package faulty;

/** An exception whose methods all fail. */
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
