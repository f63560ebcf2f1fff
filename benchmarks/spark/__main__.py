"""Tables of docs/explanation/benchmarks.md, with the environment of the measurement.

python -m benchmarks.spark [quick|normal]
"""

from __future__ import annotations

import os
import platform
import sys

import pyspark

from benchmarks.spark import programs, reads


def main(effort: str = "quick") -> None:
    """Measure and print."""
    print(f"Python {platform.python_version()}, PySpark {pyspark.__version__}, ", end="")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    reads.main()
    print()
    programs.main(["--effort", effort])
    print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main(*sys.argv[1:])
