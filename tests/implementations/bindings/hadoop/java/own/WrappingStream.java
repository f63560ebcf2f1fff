package own;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;

/** A stream that calls another one. */
public class WrappingStream extends FSInputStream {
  private final FSDataInputStream inner;

  public WrappingStream(FSDataInputStream inner) {
    this.inner = inner;
  }

  public int read() throws IOException {
    return inner.read();
  }

  public int read(byte[] buffer, int offset, int length) throws IOException {
    return inner.read(buffer, offset, length);
  }

  public int read(long position, byte[] buffer, int offset, int length) throws IOException {
    return inner.read(position, buffer, offset, length);
  }

  public void seek(long position) throws IOException {
    inner.seek(position);
  }

  public long getPos() throws IOException {
    return inner.getPos();
  }

  public boolean seekToNewSource(long position) throws IOException {
    return inner.seekToNewSource(position);
  }

  public int available() throws IOException {
    return inner.available();
  }

  public void close() throws IOException {
    inner.close();
  }
}
