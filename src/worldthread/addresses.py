"""Where a server of ours listens: addresses, and who can reach them."""

from __future__ import annotations

import ipaddress
import socket

from worldthread.errors import InputError


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_every_address(host: str) -> bool:
    """Whether ``host`` stands for all addresses of this machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host


def in_address(host: str) -> str:
    """A host as it stands in a URL."""
    return f"[{host}]" if ":" in host else host


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one.

    Raises:
        InputError: the address cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise InputError(
            f"cannot listen on {in_address(host)}:{port}: {error.strerror}. Choose another --port"
        ) from None


def port_of(listening: socket.socket) -> int:
    """The port that a socket listens on."""
    port: int = listening.getsockname()[1]
    return port
