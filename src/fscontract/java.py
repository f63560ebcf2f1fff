"""Our streams and filesystems as Hadoop's, for Java code in this process.

Needs the extra `hadoop` (`pip install 'fscontract[hadoop]'`).
"""

from fscontract.implementations.jvm.bridge import java_filesystem, java_stream

__all__ = ["java_filesystem", "java_stream"]
