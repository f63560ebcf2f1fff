package fscontract;

import java.util.Arrays;

/** The Python exception, as the cause of its Java equivalent. */
public class PythonException extends Exception {
  /** Creates an error with Python's text, raised at these lines, innermost first. */
  public PythonException(String shown, String[] functions, String[] files, int[] lines) {
    super(shown, null, false, true);
    StackTraceElement[] trace = new StackTraceElement[functions.length];
    for (int i = 0; i < trace.length; i++) {
      trace[i] = new StackTraceElement("python", functions[i], files[i], lines[i]);
    }
    setStackTrace(trace);
  }

  /** Returns a new exception of a class with these texts, and this one as its cause. */
  public Throwable standIn(Class wanted, String[] texts) throws ReflectiveOperationException {
    Class[] types = new Class[texts.length];
    Arrays.fill(types, String.class);
    Throwable made = (Throwable) wanted.getConstructor(types).newInstance((Object[]) texts);
    made.initCause(this);
    return made;
  }
}
