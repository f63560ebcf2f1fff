"""Clients of an SFTP server; the first argument of the script is its URL with user and password."""

import sys
from urllib.parse import urlsplit

url = urlsplit(sys.argv[1])


def asyncssh_client():
    from sshfs import SSHFileSystem

    return SSHFileSystem(url.hostname, port=url.port, username=url.username, password=url.password)


def paramiko_client():
    from fsspec.implementations.sftp import SFTPFileSystem

    login = {"username": url.username, "password": url.password}
    return SFTPFileSystem(
        url.hostname, port=url.port, look_for_keys=False, allow_agent=False, **login
    )
