"""A Hadoop archive with the file `it`, for the scripts of H9, H10 and H19."""

from hadoop import Path, directory
from hadoop_servers import filesystem

archive = f"{directory.name}/a.har"
local_archive = Path(archive)


def write_archive():
    import os

    os.mkdir(archive)
    lines = [
        "%2F dir 0+420+owner+group 0 0 it \n",
        "%2Fit file part-0 2 5 0+420+owner+group \n",
    ]
    files = {
        "part-0": b"..hello..",
        "_index": "".join(lines).encode(),
        "_masterindex": f"3 \n0 2147483647 0 {len(''.join(lines))} \n".encode(),
    }
    for name, content in files.items():
        with open(f"{archive}/{name}", "wb") as f:
            f.write(content)


write_archive()
har = filesystem(f"har://{archive}")
