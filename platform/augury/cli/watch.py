"""`augury watch`: the page of a sweep, kept up to date while it runs."""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from augury.cli.common import print_json
from augury.progress import say, say_once

if TYPE_CHECKING:
    from augury.store import Store
    from augury.sweeping.state import Curves, Sweep

HELP = "Show a sweep as a page that follows it: rewritten every few seconds, or served on this machine."
EXAMPLE = "augury watch agreement-toy --storage results --serve 8080"


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.add_argument("sweep", metavar="SWEEP", help="name of the sweep, as `augury sweep` prints it")
    parser.add_argument("--storage", default="results", help="where the sweep lies (default: results)")
    parser.add_argument("--every", type=int, default=10, metavar="SECONDS", help="time between two pages (default: 10)")
    parser.add_argument("--serve", type=int, metavar="PORT", help="serve the page on 127.0.0.1 instead of writing it")
    parser.add_argument("--once", action="store_true", help="write the page and stop")


def run(arguments: argparse.Namespace) -> int:
    from augury.store import Store
    from augury.sweeping import state

    store = Store(arguments.storage)
    sweep = state.load(store, arguments.sweep)
    curves = state.Curves(sweep.metric)
    place = f"{sweep.folder.uri}/{state.PAGE}"
    if arguments.serve is not None:
        _serve(store, arguments.sweep, curves, arguments.serve, arguments.every)
        return 0
    if not (arguments.once or arguments.json):
        say(f"page {place}, rewritten every {arguments.every} s until the sweep ends; Ctrl-C leaves it as it is")
    while True:
        sweep, page = _page(store, arguments.sweep, curves, arguments.every)
        sweep.folder.write(state.PAGE, page)
        if sweep.silent:
            since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(sweep.updated))
            say_once(f"nothing was heard of the sweep since {since}: if it was stopped, the same command continues it")
        if sweep.ended or arguments.once or arguments.json:
            break
        time.sleep(arguments.every)
    if arguments.json:
        print_json({"sweep": arguments.sweep, "ended": sweep.ended, "silent": sweep.silent, "page": place})
    else:
        print(f"page     {place}")
    return 0


def _page(store: Store, name: str, curves: Curves, every: int) -> tuple[Sweep, str]:
    """The sweep as it stands, and its page."""
    from augury.reporting.sweeps import page
    from augury.sweeping import state

    sweep = state.load(store, name, curves)
    return sweep, page.render(sweep, refresh=None if sweep.ended else every)


def _serve(store: Store, name: str, curves: Curves, port: int, every: int) -> None:
    """Serve the page on the loopback interface until Ctrl-C."""
    import http.server

    making = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/":
                self.send_error(404)
                return
            with making:
                body = _page(store, name, curves, every)[1].encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Requests are nobody's news."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        say(f"http://127.0.0.1:{server.server_port}/ until Ctrl-C")
        server.serve_forever()
