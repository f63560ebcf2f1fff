package fscontract;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * Operations of a fscontract.contract.api.filesystem stream, implemented in Python.
 *
 * <p>Targets are direct buffers, filled from their first byte. The target of an array is null if the
 * range does not fit the array, so that the stream reports the error; size is that of the array, or
 * -1 for null.
 */
public interface PythonStream extends PythonCounters {
  void close() throws IOException;

  long getPos() throws IOException;

  void seek(long position) throws IOException;

  boolean seekToNewSource(long position) throws IOException;

  int readByte() throws IOException;

  long skip(long count) throws IOException;

  int available() throws IOException;

  int read(ByteBuffer target, int size, int offset, int length) throws IOException;

  int pread(long position, ByteBuffer target, int size, int offset, int length) throws IOException;

  void readFully(long position, ByteBuffer target, int size, int offset, int length)
      throws IOException;

  int readBuffer(ByteBuffer target, int length) throws IOException;

  int preadBuffer(long position, ByteBuffer target, int length) throws IOException;

  void readFullyBuffer(long position, ByteBuffer target, int length) throws IOException;

  void readVectored(List ranges, IntFunction allocate, Consumer release) throws IOException;

  void unbuffer();

  boolean hasCapability(String name);

  String describe();
}
