"""What listens at an address."""

from __future__ import annotations

import socket

import pytest

from augury.core.listening import check_listens


def test_a_port_that_listens_is_told_from_one_that_does_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        check_listens("127.0.0.1", port)
    for other in (port, 99999):
        with pytest.raises(OSError, match="refused|0-65535"):
            check_listens("127.0.0.1", other)


def test_an_ipv6_address_has_brackets() -> None:
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6")
    with server:
        check_listens("[::1]", server.getsockname()[1])
