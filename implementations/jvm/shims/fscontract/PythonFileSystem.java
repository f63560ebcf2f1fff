package fscontract;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.FileStatus;

/**
 * Operations of a fscontract.contract.api.filesystem filesystem, implemented in Python. Paths begin
 * with a slash, and returned statuses have no scheme.
 */
public interface PythonFileSystem extends PythonCounters {
  PythonStream open(String path, int bufferSize) throws IOException;

  CompletableFuture openFile(String path, Map options, Set mandatory, FileStatus status)
      throws IOException;

  PythonWriter create(String path, boolean overwrite) throws IOException;

  FileStatus getFileStatus(String path) throws IOException;

  FileStatus[] listStatus(String path) throws IOException;

  void mkdirs(String path) throws IOException;

  boolean delete(String path, boolean recursive) throws IOException;

  void rename(String source, String target) throws IOException;

  void setPermission(String path, int mode) throws IOException;

  void access(String path, String mode) throws IOException;

  boolean hasPathCapability(String path, String name) throws IOException;

  String describe();
}
