"""Our streams and filesystems as Hadoop's, for Java code in this process, and Hadoop's as ours.

Needs the extra `hadoop` (`pip install 'fscontract[hadoop]'`).
"""

from fscontract.implementations.hadoop_filesystem import HadoopFileSystem
from fscontract.implementations.jvm.bridge import java_filesystem, java_stream

__all__ = ["HadoopFileSystem", "java_filesystem", "java_stream"]
