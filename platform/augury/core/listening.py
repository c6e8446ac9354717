"""Whether something listens at an address of the network."""

from __future__ import annotations

import socket


def check_listens(host: str, port: int, seconds: float = 10.0) -> None:
    """Raise OSError where nothing answers at a port of a host within some seconds."""
    try:
        socket.create_connection((host.strip("[]"), port), timeout=seconds).close()
    except OverflowError as error:  # a port above 65535
        raise OSError(str(error)) from error
