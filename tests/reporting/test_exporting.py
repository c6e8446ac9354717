"""Exports on the hub: what is sent to it, by a server that records it, and what it refuses."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.reporting.exporting import check_name, push

FILES = {"README.md": b"# A model\n", "model.safetensors": bytes(range(256))}


class Hub(ThreadingHTTPServer):
    """As much of the hub as an upload of small files needs."""

    status = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, str, str | None, bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def answer(self, path: str, body: bytes) -> Any:
        if path == "/api/repos/create":
            return {"url": f"{self.url}/me/toy", "name": "me/toy", "id": "1"}
        if path.startswith("/api/models/me/toy/preupload/"):
            names = [file["path"] for file in json.loads(body)["files"]]
            regular = {"uploadMode": "regular", "shouldIgnore": False, "oid": None}
            return {"files": [{"path": name, **regular} for name in names]}
        if path.startswith("/api/models/me/toy/commit/"):
            return {"commitUrl": f"{self.url}/me/toy/commit/1", "commitOid": "1", "success": True}
        return {}


class Handler(BaseHTTPRequestHandler):
    """Records requests and answers as the hub."""

    server: Hub

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        token = self.headers.get("Authorization")
        self.server.requests.append((self.command, path, token, body))
        answer = json.dumps(self.server.answer(path, body)).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST

    def log_message(self, *_: Any) -> None:
        """Be quiet."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    server = Hub()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.url)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    directory = tmp_path / "toy-seed-1-hf"
    directory.mkdir()
    for name, content in FILES.items():
        (directory / name).write_bytes(content)
    return directory


def test_all_files_are_uploaded_with_the_token(hub: Hub, exported: Path) -> None:
    assert push(exported, "me/toy", private=True) == f"{hub.url}/me/toy"
    bodies = {path: body for command, path, _, body in hub.requests if command == "POST"}
    created = json.loads(bodies["/api/repos/create"])
    assert created["name"] == "toy" and created["organization"] == "me"
    assert created.get("private") is True or created.get("visibility") == "private"
    lines = [json.loads(line) for line in bodies["/api/models/me/toy/commit/main"].splitlines()]
    sent = {
        line["value"]["path"]: base64.b64decode(line["value"]["content"])
        for line in lines
        if line["key"] == "file"
    }
    assert sent == FILES
    tokens = {path: token for _, path, token, _ in hub.requests}
    for path in ("/api/repos/create", "/api/models/me/toy/commit/main"):
        assert tokens[path] == "Bearer hf_secret"


def test_a_refusal_says_where_the_export_is_and_how_to_continue(hub: Hub, exported: Path) -> None:
    hub.status = 403
    with pytest.raises(UserError) as error:
        push(exported, "me/toy")
    assert f"the export is in {exported}" in str(error.value)
    assert f"upload me/toy {exported}" in str(error.value) and "hf auth login" in str(error.value)


@pytest.mark.parametrize("name", ["toy", "me/toy/x", "me/t y", "-me/toy"])
def test_names_that_the_hub_does_not_allow_are_refused(name: str) -> None:
    with pytest.raises(UserError, match="--push"):
        check_name(name)
