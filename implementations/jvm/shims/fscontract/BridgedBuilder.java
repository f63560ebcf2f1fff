package fscontract;

import java.io.IOException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.impl.FutureDataInputStreamBuilderImpl;

/** Options for opening a Python file; all set options are passed to Python, and no others. */
public class BridgedBuilder extends FutureDataInputStreamBuilderImpl {
  private final PythonFileSystem python;
  private final String name;

  public BridgedBuilder(BridgedFileSystem filesystem, Path path) {
    super(filesystem, path);
    this.python = filesystem.python();
    this.name = filesystem.nameAnyway(path);
  }

  /** Equals setting the option of that name, so the last of both wins. */
  public FutureDataInputStreamBuilder bufferSize(int size) {
    optLong(Options.OpenFileOptions.FS_OPTION_OPENFILE_BUFFER_SIZE, size);
    return this;
  }

  public FutureDataInputStreamBuilder builder() {
    return this;
  }

  public FutureDataInputStreamBuilder getThisBuilder() {
    return this;
  }

  public CompletableFuture build() throws IOException {
    Map given = new HashMap();
    collect(given, getMandatoryKeys().iterator());
    collect(given, getOptionalKeys().iterator());
    return python.openFile(name, given, getMandatoryKeys(), getStatus());
  }

  private void collect(Map given, Iterator keys) {
    Configuration options = getOptions();
    while (keys.hasNext()) {
      String key = (String) keys.next();
      given.put(key, options.getRaw(key));
    }
  }
}
