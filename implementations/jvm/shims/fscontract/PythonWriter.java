package fscontract;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A file open for writing, implemented in Python. The source is a direct buffer. */
public interface PythonWriter {
  void write(ByteBuffer source, int length) throws IOException;

  void close() throws IOException;
}
