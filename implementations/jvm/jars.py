"""Where Hadoop's libraries are: among those of PySpark, and S3A's in another package."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

from fscontract.contract.binding import TargetError

#: What begins the names of the jars of PySpark that Hadoop, Parquet and the bridge to Java need.
_HADOOP = (
    "commons-",
    "hadoop-client-",
    "jackson-",
    "janino-",
    "jcl-over-slf4j-",
    "jts-core-",  # for Parquet
    "log4j-",
    "parquet-",
    "slf4j-api-",
    "snappy-java-",
    "zstd-jni-",
)
#: A second copy of old classes beside newer ones in the same folder.
_S3A_WITHOUT = ("hadoop-hdfs-",)


#: Environment variables of Hadoop: more libraries, and the directory of core-site.xml.
CLASSPATH, CONFIGURATION = "HADOOP_CLASSPATH", "HADOOP_CONF_DIR"


def hadoop_jars() -> tuple[Path, ...]:
    """Hadoop's client, Parquet and Janino, as PySpark brings them, and what the user has.

    TargetError without PySpark, or if one of the variables leads nowhere.
    """
    folder = _folder("pyspark", "jars", "fscontract[hadoop]")
    found = sorted(jar for jar in folder.glob("*.jar") if jar.name.startswith(_HADOOP))
    if not any(jar.name.startswith("hadoop-client-") for jar in found):
        raise TargetError(f"{folder} holds no hadoop-client jar")
    return (*found, *_users())


def s3a_jars() -> tuple[Path, ...]:
    """Hadoop with S3A, as bodo-iceberg-connector brings it; TargetError without that package."""
    folder = _folder("bodo_iceberg_connector", "jars/libs", "bodo-iceberg-connector")
    found = sorted(j for j in folder.glob("*.jar") if not j.name.startswith(_S3A_WITHOUT))
    if not any(jar.name.startswith("hadoop-aws-") for jar in found):
        raise TargetError(f"{folder} holds no hadoop-aws jar")
    return tuple(found)


def _users() -> Iterator[Path]:
    """What the variables name, in their order: jars, directories, and all jars of `directory/*`."""
    for variable in (CLASSPATH, CONFIGURATION):
        for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            path = Path(entry)
            folder = path.parent if path.name == "*" else path
            if not folder.exists():
                raise TargetError(f"{variable}: there is no {folder}")
            yield from sorted(folder.glob("*.jar")) if path.name == "*" else [path]


def version_of(jars: tuple[Path, ...], name: str) -> str:
    """The version in the file name of the jar that is called `name`; "" if it is not there."""
    for jar in jars:
        version = jar.stem.removeprefix(f"{name}-")
        if version != jar.stem and version[:1].isdigit():
            return version
    return ""


def _folder(package: str, below: str, install: str) -> Path:
    spec = importlib.util.find_spec(package)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place) / below
        if folder.is_dir():
            return folder
    raise TargetError(f"Hadoop's jars are those of {package}: pip install '{install}'")
