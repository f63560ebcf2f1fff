package fscontract;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A file that is being written; Python implements it. The source is direct. */
public interface PythonWriter {
  void write(ByteBuffer source, int length) throws IOException;

  void close() throws IOException;
}
