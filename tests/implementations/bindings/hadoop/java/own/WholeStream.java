package own;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import org.apache.hadoop.fs.PositionedReadable;
import org.apache.hadoop.fs.Seekable;

/** A stream of bytes in memory; it has no positioned reads. */
public class WholeStream extends ByteArrayInputStream implements Seekable, PositionedReadable {
  public WholeStream(byte[] data) {
    super(data);
  }

  public void seek(long position) {
    pos = (int) position;
  }

  public long getPos() {
    return pos;
  }

  public boolean seekToNewSource(long position) {
    return false;
  }

  public int read(long position, byte[] buffer, int offset, int length) throws IOException {
    throw new IOException("no positioned reads");
  }

  public void readFully(long position, byte[] buffer, int offset, int length) throws IOException {
    throw new IOException("no positioned reads");
  }

  public void readFully(long position, byte[] buffer) throws IOException {
    throw new IOException("no positioned reads");
  }
}
