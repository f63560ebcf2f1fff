package fscontract;

import java.io.IOException;
import java.net.URI;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.util.Progressable;

/** A filesystem of Python's as one of Hadoop's, found by the authority of its URI. */
public class BridgedFileSystem extends FileSystem implements IOStatisticsSource {
  public static final String SCHEME = "fscontract";

  private static final ConcurrentHashMap REGISTERED = new ConcurrentHashMap();

  private PythonFileSystem python;
  private boolean registered;
  private URI uri;
  private Path workingDirectory;

  /** For Hadoop, which makes one for a URI whose filesystem was registered. */
  public BridgedFileSystem() {}

  /** One that others are found by, until it is closed. */
  public BridgedFileSystem(PythonFileSystem python, String authority, Configuration conf)
      throws IOException {
    REGISTERED.put(authority, python);
    registered = true;
    initialize(URI.create(SCHEME + "://" + authority + "/"), conf);
  }

  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    if (name.getAuthority() != null) {
      python = (PythonFileSystem) REGISTERED.get(name.getAuthority());
    }
    if (python == null) {
      throw new IOException("no filesystem of Python's is registered for " + name);
    }
    uri = URI.create(SCHEME + "://" + name.getAuthority());
    workingDirectory = new Path(uri + "/");
    setConf(conf);
  }

  public void close() throws IOException {
    super.close();
    if (registered) {
      REGISTERED.remove(uri.getAuthority());
    }
  }

  public String getScheme() {
    return SCHEME;
  }

  public URI getUri() {
    return uri;
  }

  public Path getWorkingDirectory() {
    return workingDirectory;
  }

  public void setWorkingDirectory(Path path) {
    workingDirectory = makeQualified(path);
  }

  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return opened(python.open(name(path), bufferSize));
  }

  /** A stream of Python's as Hadoop hands streams out. */
  public static FSDataInputStream opened(PythonStream stream) {
    return new FSDataInputStream(new BridgedInputStream(stream));
  }

  public FutureDataInputStreamBuilder openFile(Path path) {
    return new BridgedBuilder(this, path);
  }

  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    BridgedOutputStream out = new BridgedOutputStream(python.create(name(path), overwrite));
    return new FSDataOutputStream(out, statistics);
  }

  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress) {
    throw new UnsupportedOperationException("append is not supported by " + python.describe());
  }

  public FileStatus getFileStatus(Path path) throws IOException {
    return qualified(python.getFileStatus(name(path)));
  }

  public FileStatus[] listStatus(Path path) throws IOException {
    FileStatus[] found = python.listStatus(name(path));
    for (int i = 0; i < found.length; i++) {
      qualified(found[i]);
    }
    return found;
  }

  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    python.mkdirs(name(path));
    return true;
  }

  public boolean delete(Path path, boolean recursive) throws IOException {
    return python.delete(name(path), recursive);
  }

  public boolean rename(Path source, Path target) throws IOException {
    python.rename(name(source), name(target));
    return true;
  }

  public void setPermission(Path path, FsPermission permission) throws IOException {
    python.setPermission(name(path), permission.toShort());
  }

  public void access(Path path, FsAction mode) throws IOException {
    python.access(name(path), mode.SYMBOL.replace("-", ""));
  }

  public IOStatistics getIOStatistics() {
    return new BridgedStatistics(python);
  }

  public String toString() {
    return uri + " " + python.describe();
  }

  PythonFileSystem python() {
    return python;
  }

  /** The path as Python names it. */
  String name(Path path) {
    checkPath(path);
    return makeQualified(path).toUri().getPath();
  }

  /** The same, or the whole path of another filesystem, which Python refuses where it is to. */
  String nameAnyway(Path path) {
    try {
      return name(path);
    } catch (IllegalArgumentException e) {
      return path.toString();
    }
  }

  private FileStatus qualified(FileStatus status) {
    status.setPath(makeQualified(status.getPath()));
    return status;
  }
}
