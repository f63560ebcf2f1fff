"""Options of the pytest runs that tests start."""

from __future__ import annotations

#: Leaves out plug-ins of the developer's environment that no such run uses. Importing them takes
#: longer than everything else at the start of a process: that of Zarr imports NumPy.
WITHOUT_OTHERS = "-p no:zarr -p no:inline_snapshot -p no:fakefs -p no:anyio"
