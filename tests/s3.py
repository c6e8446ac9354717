"""An S3 server on this machine that refuses some requests, as busy services do.

moto's, which answers what pyarrow asks over HTTP.
"""

from __future__ import annotations

import itertools
import logging
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

SECRET = "Zq7secret"
REFUSAL = (
    b'<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code>'
    b"<Message>Please reduce your request rate.</Message></Error>"
)

DENIAL = (
    b'<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code>'
    b"<Message>Access Denied</Message></Error>"
)


class S3Server:
    """A WSGI application that passes requests to moto, and refuses one
    of every `refuse_every`."""

    def __init__(self) -> None:
        self.refuse_every: int | None = None
        self.asked = self.refused = 0
        self.read_only = False
        """Whether nothing may be written."""
        self.written: list[str] = []
        """The paths of objects in the order in which they were written."""
        self.port = 0
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._one_request = threading.Lock()
        self._number = itertools.count(1)

    def __call__(self, environment: dict[str, Any], start_response: Any) -> Any:
        self.asked += 1
        if self.refuse_every and next(self._number) % self.refuse_every == 0:
            self.refused += 1
            start_response("503 Slow Down", [("Content-Type", "application/xml")])
            return [REFUSAL]
        if self.read_only and environment["REQUEST_METHOD"] not in ("GET", "HEAD"):
            start_response("403 Forbidden", [("Content-Type", "application/xml")])
            return [DENIAL]
        if environment["REQUEST_METHOD"] == "PUT":
            self.written.append(environment["PATH_INFO"])
        with self._one_request:  # moto's reads of an object fail where it is replaced meanwhile
            return [b"".join(self._moto(environment, start_response))]

    def uri(self, path: str) -> str:
        """Return the URI of a bucket, or of something in one."""
        query = f"scheme=http&endpoint_override=127.0.0.1:{self.port}"
        return f"s3://key:{SECRET}@{path}?{query}"


@contextmanager
def s3_server(bucket: str = "augury") -> Iterator[S3Server]:
    """Serve on a free port while the block runs; the server has one bucket."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    application = S3Server()
    server = make_server("127.0.0.1", 0, application, threaded=True)
    application.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        address = f"http://127.0.0.1:{application.port}/{bucket}"
        urllib.request.urlopen(urllib.request.Request(address, method="PUT"), timeout=60).close()
        yield application
    finally:
        server.shutdown()
        thread.join()
