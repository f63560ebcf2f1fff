"""N1: cat_file of sshfs returns the whole file for every range. Argument: server URL."""

from sftp import asyncssh_client

fs = asyncssh_client()
fs.pipe_file("/it", b"0123456789")
seen = [fs.cat_file("/it", start=2, end=5), fs.cat_ranges(["/it"], [2], [5])]

assert seen == [b"234", [b"234"]], seen
