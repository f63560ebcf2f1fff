package faulty;

/** Counts the calls of the classes in this package, and lets one of them fail. */
public class Calls {
  private static int number;
  private static int count;
  private static Throwable error;

  /** Makes the call with this number throw an error, or return null without one. */
  public static void set(int wrong, Throwable thrown) {
    number = wrong;
    error = thrown;
    count = 0;
  }

  /** Returns the number of calls. */
  public static int count() {
    return count;
  }

  /** Returns whether this call must return null; throws if it must throw. */
  static boolean isNull() {
    count++;
    if (count != number) {
      return false;
    }
    if (error instanceof RuntimeException) {
      throw (RuntimeException) error;
    }
    if (error != null) {
      throw (Error) error;
    }
    return true;
  }
}
