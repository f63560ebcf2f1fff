package fscontract;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * The operations of a stream of fscontract.contract.api.filesystem; Python implements it.
 *
 * <p>Targets are direct, and are filled from their first byte on. The target of an array is null if
 * the range does not fit the array, so that the stream itself says what is wrong with it; size is
 * that of the array, or -1 if there is none.
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
