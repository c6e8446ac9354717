"""`augury watch`: keep the page of a sweep or of a whole storage up to date."""

from __future__ import annotations

import argparse
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from augury.cli.common import RESULTS, print_json, whole_number
from augury.core.errors import UserError
from augury.core.naming import command, is_whole
from augury.core.progress import say, say_once

if TYPE_CHECKING:
    from augury.core.store import Folder, Store
    from augury.sweeping.state import Curves

LOOPBACK = "127.0.0.1"
HELP = "Write or serve a live page of a sweep, or of all sweeps, reports and runs in a storage."
EXAMPLE = """augury watch agreement-toy --storage results --serve 8080
  augury watch results --once"""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument(
        "target",
        nargs="?",
        metavar="SWEEP|STORAGE",
        help="a sweep, by its name or space, or a storage, by its directory or URI (default: "
        "--storage)",
    )
    parser.add_argument(
        "--storage", default="results", help="storage of the sweep (default: results)"
    )
    parser.add_argument(
        "--every",
        type=whole_number,
        default=10,
        metavar="SECONDS",
        help="update interval (default: 10)",
    )
    parser.add_argument(
        "--host",
        default=LOOPBACK,
        metavar="ADDRESS",
        help=f"address to serve on (default: {LOOPBACK}, this machine alone); others let everyone "
        "who reaches it read the results",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--serve",
        type=_port,
        metavar="PORT",
        help="serve the page instead of writing it, on a port or, with 0, on a free one",
    )
    mode.add_argument("--once", action="store_true", help="write the page once and exit")


def _port(text: str) -> int:
    if not (is_whole(text) and int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"{text}: give a port, 0 to 65535")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    from augury.core.store import Store
    from augury.sweeping import state

    store, target = Store(arguments.storage), arguments.target or arguments.storage
    if arguments.target not in state.names(store) and ("://" in target or Path(target).is_dir()):
        return _watch_storage(Store(target), arguments)
    return _watch_sweep(store, state.resolve(store, target), arguments)


def _watch_sweep(store: Store, name: str, arguments: argparse.Namespace) -> int:
    from augury.sweeping import state

    sweep = state.load(store, name)
    curves = state.Curves(sweep.metric)
    page = sweep.folder.location(state.PAGE)
    if _serves(sweep.folder, arguments):
        _serve(
            lambda path: _sweep_page(store, name, arguments.every, curves) if path == "/" else None,
            arguments,
        )
        return 0
    if not (arguments.once or arguments.json):
        say(f"page {page}, updated every {arguments.every} s until the sweep ends or Ctrl-C")
    while True:
        sweep.folder.write(state.PAGE, _sweep_page(store, name, arguments.every, curves))
        sweep = state.load(store, name, curves)
        if sweep.silent:
            since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(sweep.updated))
            say_once(
                f"the sweep was stopped at {since}: repeat its command to continue"
                if sweep.stopped
                else f"no heartbeat from the sweep since {since}: if it was killed, repeat its "
                "command to continue"
            )
        if sweep.ended or arguments.once or arguments.json:
            break
        time.sleep(arguments.every)
    _print(
        page,
        {"sweep": name, "ended": sweep.ended, "silent": sweep.silent, "page": page},
        arguments.json,
    )
    return 0


def _watch_storage(store: Store, arguments: argparse.Namespace) -> int:
    """Update the pages of a storage and of its running sweeps until no sweep is running."""
    from augury.core.filesystems import located
    from augury.core.store import Folder
    from augury.reporting import storage
    from augury.sweeping import state

    page = located(store.root, storage.PAGE)
    if _serves(Folder(store.root, ""), arguments):
        _serve(lambda path: _storage_file(store, path, arguments.every), arguments)
        return 0
    if not (arguments.once or arguments.json):
        say(
            f"page {page}, updated every {arguments.every} s while a sweep is running or until "
            "Ctrl-C"
        )
    while True:
        sweeps = state.load_all(store)
        running = [sweep for sweep in sweeps if not sweep.ended and not sweep.silent]
        for sweep in sweeps:
            if sweep in running or not _is_of(store, sweep.folder):
                sweep.folder.write(state.PAGE, _sweep_page(store, sweep.name, arguments.every))
        last = not running or arguments.once or arguments.json
        storage.write(store, None if last else arguments.every)
        if last:
            break
        time.sleep(arguments.every)
    _print(
        page,
        {"storage": store.root, "sweeps": [sweep.name for sweep in sweeps], "page": page},
        arguments.json,
    )
    return 0


def _serves(folder: Folder, arguments: argparse.Namespace) -> bool:
    """Return whether to serve a page: on demand, or because a folder of a storage cannot be
    written; UserError where its page was to be written once."""
    if arguments.serve is not None or _is_writable(folder):
        return arguments.serve is not None
    if arguments.once or arguments.json:
        target = [arguments.target] if arguments.target else []
        elsewhere = [] if arguments.storage == RESULTS else ["--storage", arguments.storage]
        serve = command("augury", "watch", *target, *elsewhere, "--serve", "0")
        raise UserError(
            f"{folder.root} cannot be written: `{serve}` shows its page without writing it"
        )
    say(f"{folder.root} cannot be written: its page is served instead")
    arguments.serve = 0
    return True


def _is_writable(folder: Folder) -> bool:
    """Return whether files can be written into a folder of a mounted storage; those of others are
    not tried."""
    return not folder.is_local or os.access(folder.path(), os.W_OK)


def _is_of(store: Store, sweep: Folder) -> bool:
    """Return whether a sweep has a page that names this place of the storage, which it may have
    been moved to."""
    from augury.sweeping import state

    return sweep.exists(state.PAGE) and store.root.encode() in sweep.read(state.PAGE)


def _print(page: str, values: Mapping[str, object], as_json: bool) -> None:
    if as_json:
        print_json(values)
    else:
        print(f"page     {page}")


def _sweep_page(store: Store, name: str, every: int, curves: Curves | None = None) -> str:
    """Return the current page of a sweep."""
    from augury.reporting import rendering
    from augury.reporting.sweeps.report import report
    from augury.sweeping import state

    sweep = state.load(store, name, curves)
    return rendering.page(report(sweep, every))


def _storage_file(store: Store, path: str, every: int) -> str | None:
    """Return the page of a storage, or of one of its sweeps or reports; None for other paths."""
    from augury.reporting import reported, storage
    from augury.sweeping import state

    match unquote(path).strip("/").split("/"):
        case [""] | [storage.PAGE]:
            return storage.render(store, refresh=every)
        case [state.KIND, name, state.PAGE] if name in state.names(store):
            return _sweep_page(store, name, every)
        case [reported.KIND, name, reported.PAGE] if name in store.addresses(reported.KIND):
            return store.folder(reported.KIND, name).read(reported.PAGE).decode()
    return None


def _serve(page: Callable[[str], str | None], arguments: argparse.Namespace) -> None:
    """Serve pages by path until Ctrl-C.

    On the loopback interface only requests for this machine by name are answered: a site that gives
    its own name this address (DNS rebinding) could read the pages otherwise.
    """
    import http.server

    rendering, host = threading.Lock(), arguments.host
    names = (LOOPBACK, "localhost")
    if host not in names:
        say(f"everyone who reaches {host} can read these pages: they ask for no password")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.headers.get("Host", "").partition(":")[0]
            if host in names and name not in names:
                self.send_error(403, "this page is for requests to localhost")
                return
            with rendering:
                content = page(self.path)
            if content is None:
                self.send_error(404)
                return
            body = content.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Do not log requests."""

    try:
        opened = http.server.ThreadingHTTPServer((host, arguments.serve), Handler)
    except OSError as error:
        raise UserError(
            f"cannot serve on {host}:{arguments.serve} ({error.strerror or error}): give another "
            "--serve or --host"
        ) from error
    with opened as server:
        say(f"http://{host}:{server.server_port}/ until Ctrl-C")
        server.serve_forever()
