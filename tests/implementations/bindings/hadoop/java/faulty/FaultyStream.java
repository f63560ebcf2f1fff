package faulty;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.FSDataInputStream;

/** A stream whose methods may fail. */
public class FaultyStream extends FSDataInputStream {
  public FaultyStream(FSDataInputStream inner) {
    super((InputStream) inner);
  }

  public int read() throws IOException {
    Calls.isNull();
    return super.read();
  }

  public long getPos() throws IOException {
    Calls.isNull();
    return super.getPos();
  }

  public void seek(long position) throws IOException {
    Calls.isNull();
    super.seek(position);
  }

  public int read(long position, byte[] buffer, int offset, int length) throws IOException {
    Calls.isNull();
    return super.read(position, buffer, offset, length);
  }

  public int read(ByteBuffer buffer) throws IOException {
    Calls.isNull();
    return super.read(buffer);
  }

  public void readVectored(List ranges, IntFunction allocate) throws IOException {
    Calls.isNull();
    super.readVectored(ranges, allocate);
  }

  public void unbuffer() {
    Calls.isNull();
    super.unbuffer();
  }

  public boolean hasCapability(String name) {
    Calls.isNull();
    return super.hasCapability(name);
  }

  public void close() throws IOException {
    Calls.isNull();
    super.close();
  }
}
