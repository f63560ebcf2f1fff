package faulty;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/** A filesystem whose methods may fail. Writing methods start no processes. */
public class FaultyFileSystem extends FilterFileSystem {
  public FaultyFileSystem(Configuration conf) throws IOException {
    super(new RawLocalFileSystem());
    initialize(URI.create("file:///"), conf);
  }

  public FSDataInputStream open(Path path, int size) throws IOException {
    return Calls.isNull() ? null : new FaultyStream(super.open(path, size));
  }

  public FutureDataInputStreamBuilder openFile(Path path) throws IOException {
    return Calls.isNull() ? null : new FaultyBuilder(this, path);
  }

  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int size,
      short replication,
      long block,
      Progressable progress)
      throws IOException {
    return Calls.isNull() ? null : new FSDataOutputStream(new FileOutputStream(at(path)), null);
  }

  public boolean mkdirs(Path path) {
    return mkdirs(path, FsPermission.getDirDefault());
  }

  public boolean mkdirs(Path path, FsPermission permission) {
    return !Calls.isNull() && at(path).mkdirs();
  }

  public boolean delete(Path path, boolean recursive) throws IOException {
    return !Calls.isNull() && super.delete(path, recursive);
  }

  public void setPermission(Path path, FsPermission permission) {
    Calls.isNull();
    at(path).setReadable(false);
  }

  public FileStatus getFileStatus(Path path) throws IOException {
    return Calls.isNull() ? null : new FaultyStatus(super.getFileStatus(path));
  }

  public FileStatus[] listStatus(Path path) throws IOException {
    return Calls.isNull() ? null : super.listStatus(path);
  }

  public Path makeQualified(Path path) {
    return Calls.isNull() ? null : super.makeQualified(path);
  }

  private static File at(Path path) {
    return new File(path.toUri().getPath());
  }
}
