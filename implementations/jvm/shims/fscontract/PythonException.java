package fscontract;

import java.util.Arrays;

/** What was raised in Python: the cause of the exception that stands for it in Java. */
public class PythonException extends Exception {
  /** An error as Python shows it, raised at these lines, the innermost first. */
  public PythonException(String shown, String[] functions, String[] files, int[] lines) {
    super(shown, null, false, true);
    StackTraceElement[] trace = new StackTraceElement[functions.length];
    for (int i = 0; i < trace.length; i++) {
      trace[i] = new StackTraceElement("python", functions[i], files[i], lines[i]);
    }
    setStackTrace(trace);
  }

  /** A new exception of a class, made of these texts, with this one as its cause. */
  public Throwable standIn(Class wanted, String[] texts) throws ReflectiveOperationException {
    Class[] types = new Class[texts.length];
    Arrays.fill(types, String.class);
    Throwable made = (Throwable) wanted.getConstructor(types).newInstance((Object[]) texts);
    made.initCause(this);
    return made;
  }
}
