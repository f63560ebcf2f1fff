"""N5: sshfs raises errors of asyncssh that are not OSErrors. Argument: server URL."""

from sftp import asyncssh_client


def outcome(call, argument):
    try:
        return call(argument)
    except Exception as error:
        return error


fs = asyncssh_client()
fs.pipe_file("/it", b"0123456789")
fs.makedirs("/directory", exist_ok=True)
with fs.open("/it") as file:
    seen = [outcome(fs.open, "/directory"), outcome(file.write, b"x")]

assert all(isinstance(each, OSError) for each in seen), seen
