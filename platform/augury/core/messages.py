"""Messages to the user, through the logger `augury` of the standard library's `logging`.

A program that imports Augury decides where they go; notebooks and Ray workers show nothing by
default. The command line writes them to standard error and keeps standard output for results.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from augury.core.secrets import redacted

if TYPE_CHECKING:
    from rich.progress import Progress

logger = logging.getLogger("augury")
# Otherwise logging's last-resort handler would print warnings.
logger.addHandler(logging.NullHandler())


@contextmanager
def shown(verbosity: int = 0) -> Iterator[None]:
    """Write messages, and progress bars if it is a terminal, to standard error while the block
    runs.

    `verbosity` is -1 for warnings and errors, 0 for progress as well, and 1 for debug messages and
    timestamps too.
    """
    handler = _StderrHandler(timestamps=verbosity > 0)
    handlers, level = logger.handlers, logger.level
    logger.handlers = [handler]
    logger.setLevel({-1: logging.WARNING, 0: logging.INFO}.get(verbosity, logging.DEBUG))
    try:
        yield
    finally:
        handler.close()
        logger.handlers = handlers
        logger.setLevel(level)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect messages, as `say` takes them, in place of writing them while the block runs; for
    processes whose messages are to be said elsewhere."""
    handler = _Collector()
    handlers, level = logger.handlers, logger.level
    logger.handlers = [handler]
    logger.setLevel(logging.INFO)
    try:
        yield handler.messages
    finally:
        logger.handlers = handlers
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


def display() -> Progress | None:
    """Return the progress bars on the terminal; None if messages are not written to one."""
    handler = next(
        (handler for handler in logger.handlers if isinstance(handler, _StderrHandler)), None
    )
    return handler.display() if handler and logger.isEnabledFor(logging.INFO) else None


class _Collector(logging.Handler):
    """Keeps messages in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        warning = "warning: " if record.levelno >= logging.WARNING else ""
        self.messages.append(warning + record.getMessage())


class _StderrHandler(logging.Handler):
    """Writes records to standard error, above the progress bars."""

    def __init__(self, timestamps: bool):
        super().__init__()
        self.timestamps = timestamps
        self._display: Progress | None = None

    def display(self) -> Progress | None:
        """Return the progress bars; None if standard error is not a terminal."""
        if self._display is None and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            console = Console(stderr=True, markup=False, highlight=False)
            columns = (BarColumn(bar_width=20), TextColumn("{task.description}", markup=False))
            # Standard output stays that of the command: what libraries print there while bars are
            # shown, Ray Tune among them, is sent elsewhere by whoever calls them.
            self._display = Progress(
                *columns, console=console, transient=True, redirect_stdout=False
            )
        return self._display

    def emit(self, record: logging.LogRecord) -> None:
        line = redacted(self.text(record))
        if self._display is not None and self._display.live.is_started:
            self._display.console.print(line, soft_wrap=True)
        else:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    def text(self, record: logging.LogRecord) -> str:
        """Format a record as text."""
        message = record.getMessage()
        if record.levelno >= logging.WARNING:
            message = f"{'warning' if record.levelno == logging.WARNING else 'augury'}: {message}"
        return (
            f"{time.strftime('%H:%M:%S', time.localtime(record.created))} {message}"
            if self.timestamps
            else message
        )

    def close(self) -> None:
        if self._display is not None:
            self._display.stop()
        super().close()
