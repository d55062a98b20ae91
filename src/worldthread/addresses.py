"""Network addresses that the servers of worldthread listen on."""

from __future__ import annotations

import ipaddress
import socket

from worldthread.errors import InputError


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach ``host``."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_every_address(host: str) -> bool:
    """Return whether ``host`` means all addresses of this machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host


def in_address(host: str) -> str:
    """Return ``host`` as written in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def listening_socket(host: str, port: int) -> socket.socket:
    """Open a socket that listens.

    Args:
        host: an address or name of this machine.
        port: the port; 0 takes a free one.

    Returns:
        The socket.

    Raises:
        InputError: the address cannot be used, for example because another program listens on it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise InputError(
            f"cannot listen on {in_address(host)}:{port}: {error.strerror}. Choose another --port"
        ) from None


def port_of(listening: socket.socket) -> int:
    """Return the port that a socket listens on."""
    port: int = listening.getsockname()[1]
    return port
