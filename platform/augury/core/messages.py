"""Messages to the user, through the logger `augury` of the standard library's `logging`.

A program that imports Augury decides where they go; notebooks and Ray workers show nothing by
default. The command line writes them to standard error and keeps standard output for results.
"""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from augury.core.secrets import redacted

ERASE = "\r\x1b[K"
"""Moves a terminal's cursor to the beginning of its line, which is erased."""
logger = logging.getLogger("augury")
# Otherwise logging's last-resort handler would print warnings.
logger.addHandler(logging.NullHandler())


@contextmanager
def shown(verbosity: int = 0) -> Iterator[None]:
    """Write messages, and on a terminal a line of progress, to standard error while the block runs.

    `verbosity` is -1 for warnings and errors, 0 for progress as well, and 1 for debug messages too.
    """
    level = {-1: logging.WARNING, 0: logging.INFO}.get(verbosity, logging.DEBUG)
    with _handled_by(StderrHandler(), level):
        yield


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect messages, as `say` takes them, in place of writing them while the block runs; for
    processes whose messages are to be said elsewhere."""
    collector = _Collector()
    with _handled_by(collector, logging.INFO):
        yield collector.messages


@contextmanager
def _handled_by(handler: logging.Handler, level: int) -> Iterator[None]:
    before = logger.handlers, logger.level
    logger.handlers = [handler]
    logger.setLevel(level)
    try:
        yield
    finally:
        handler.close()
        logger.handlers, level = before
        logger.setLevel(level)


def say(message: str) -> None:
    """Log a message at level INFO, or WARNING if it begins with `warning: `."""
    if message.startswith("warning: "):
        logger.warning(message.removeprefix("warning: "))
    else:
        logger.info(message)


def say_once(message: str) -> None:
    """Log a message unless this process has already logged it."""
    if message not in _logged:
        _logged.add(message)
        say(message)


_logged: set[str] = set()


def live_handler() -> StderrHandler | None:
    """Return what shows a line of progress, where messages are written to a terminal."""
    if logger.isEnabledFor(logging.INFO) and sys.stderr.isatty():
        for handler in logger.handlers:
            if isinstance(handler, StderrHandler):
                return handler
    return None


class _Collector(logging.Handler):
    """Keeps messages in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        warning = "warning: " if record.levelno >= logging.WARNING else ""
        self.messages.append(warning + record.getMessage())


class StderrHandler(logging.Handler):
    """Writes records to standard error, above the line of progress."""

    live = ""
    """What the line of progress shows."""

    def show(self, text: str) -> None:
        """Show a text in the line of progress as far as it fits, an empty one to remove it."""
        with self.lock or nullcontext():
            self.live = redacted(text)[: shutil.get_terminal_size().columns - 1]
            sys.stderr.write(f"{ERASE}{self.live}")
            sys.stderr.flush()

    def emit(self, record: logging.LogRecord) -> None:
        line = redacted(record.getMessage())
        if record.levelno >= logging.WARNING:
            line = f"{'warning' if record.levelno == logging.WARNING else 'augury'}: {line}"
        sys.stderr.write(f"{ERASE}{line}\n{self.live}" if self.live else f"{line}\n")
        sys.stderr.flush()

    def close(self) -> None:
        if self.live:
            self.show("")
        super().close()
