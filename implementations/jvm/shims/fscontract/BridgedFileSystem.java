package fscontract;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.EnumSet;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.impl.PathCapabilitiesSupport;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.util.Progressable;
import org.apache.hadoop.util.functional.FunctionRaisingIOE;
import org.apache.hadoop.util.functional.RemoteIterators;

/** A Python filesystem as a Hadoop filesystem, found by the authority of its URI. */
public class BridgedFileSystem extends FileSystem implements IOStatisticsSource {
  public static final String SCHEME = "fscontract";

  private static final ConcurrentHashMap REGISTERED = new ConcurrentHashMap();

  private PythonFileSystem python;
  private boolean registered;
  private URI uri;
  private Path workingDirectory;

  /** For Hadoop, which creates one for the URI of a registered filesystem. */
  public BridgedFileSystem() {}

  /** Registers the filesystem until it is closed. */
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
      throw new IOException("no Python filesystem is registered for " + name);
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

  /** Returns a Python stream as an FSDataInputStream. */
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
    String name = name(path);
    BridgedOutputStream out = new BridgedOutputStream(python.create(name, overwrite), name);
    return new FSDataOutputStream(out, statistics);
  }

  /** Creates a file in an existing directory; if that is deleted after the check, it is recreated. */
  public FSDataOutputStream createNonRecursive(
      Path path,
      FsPermission permission,
      EnumSet flags,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    CreateFlag.validate(flags);
    Path parent = makeQualified(path).getParent();
    if (parent != null && !parent.isRoot() && !getFileStatus(parent).isDirectory()) {
      throw new ParentNotDirectoryException(parent + " is not a directory");
    }
    boolean overwrite = flags.contains(CreateFlag.OVERWRITE);
    return create(path, permission, overwrite, bufferSize, replication, blockSize, progress);
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

  protected RemoteIterator listLocatedStatus(Path path, PathFilter filter) throws IOException {
    FunctionRaisingIOE locate =
        new FunctionRaisingIOE() {
          public Object apply(Object status) throws IOException {
            return located((BridgedFileStatus) status);
          }
        };
    FileStatus[] found = listStatus(path, filter);
    return RemoteIterators.mappingRemoteIterator(
        RemoteIterators.remoteIteratorFromArray(found), locate);
  }

  private BridgedLocatedFileStatus located(BridgedFileStatus status) throws IOException {
    BlockLocation[] blocks =
        status.isFile() ? getFileBlockLocations(status, 0, status.getLen()) : null;
    return new BridgedLocatedFileStatus(status, blocks);
  }

  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    python.mkdirs(name(path));
    return true;
  }

  public boolean delete(Path path, boolean recursive) throws IOException {
    return python.delete(name(path), recursive);
  }

  /** Implements Hadoop's variants of rename with Python's, which requires an unused path. */
  public boolean rename(Path source, Path target) throws IOException {
    FileStatus there = statusOrNull(target);
    if (there == null) {
      python.rename(name(source), name(target));
      return true;
    }
    FileStatus moved = getFileStatus(source);
    if (name(source).equals(name(target))) {
      return moved.isFile();
    }
    if (there.isFile()) {
      throw new FileAlreadyExistsException(target + " exists");
    }
    python.rename(name(source), name(new Path(target, moved.getPath().getName())));
    return true;
  }

  public void setPermission(Path path, FsPermission permission) throws IOException {
    python.setPermission(name(path), permission.toShort());
  }

  public void access(Path path, FsAction mode) throws IOException {
    python.access(name(path), mode.SYMBOL.replace("-", ""));
  }

  public boolean hasPathCapability(Path path, String capability) throws IOException {
    String name = PathCapabilitiesSupport.validatePathCapabilityArgs(path, capability);
    return python.hasPathCapability(name(path), name) || super.hasPathCapability(path, name);
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

  /** Returns the path in Python's form. */
  String name(Path path) {
    checkPath(path);
    return makeQualified(path).toUri().getPath();
  }

  /** Returns the same, or the full path of another filesystem, which Python rejects if required. */
  String nameAnyway(Path path) {
    try {
      return name(path);
    } catch (IllegalArgumentException e) {
      return path.toString();
    }
  }

  private FileStatus statusOrNull(Path path) throws IOException {
    try {
      return getFileStatus(path);
    } catch (FileNotFoundException e) {
      return null;
    }
  }

  private FileStatus qualified(FileStatus status) {
    status.setPath(makeQualified(status.getPath()));
    return status;
  }
}
