package faulty;

/** Counts the calls of the classes beside this one, and makes one of them go wrong. */
public class Calls {
  private static int number;
  private static int count;
  private static Throwable error;

  /** From now on the call of this number throws an error, or returns null if there is none. */
  public static void set(int wrong, Throwable thrown) {
    number = wrong;
    error = thrown;
    count = 0;
  }

  /** How many calls there were. */
  public static int count() {
    return count;
  }

  /** Whether this call is to return null; it throws if it is to throw. */
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
