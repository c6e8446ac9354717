"""What Augury says while it works: through `logging`, under the logger `augury`.

A program that imports Augury decides where that goes: in a notebook or a worker of Ray nothing is shown. The command
line shows it on standard error, for standard output has results alone.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.progress import Progress

Format = Literal["text", "json"]

logger = logging.getLogger("augury")
logger.addHandler(logging.NullHandler())  # without it, warnings would reach standard error by themselves


@contextmanager
def shown(verbosity: int = 0, form: Format = "text") -> Iterator[None]:
    """Show messages on standard error while the block runs; lines of progress too, on a terminal by redrawing them.

    `verbosity`: -1 for warnings and errors alone, 0 for what a person waits for, 1 for all, with times.
    """
    handler = _Shown(form, timed=verbosity > 0)
    handlers, level = logger.handlers, logger.level
    logger.handlers = [handler]
    logger.setLevel({-1: logging.WARNING, 0: logging.INFO}.get(verbosity, logging.DEBUG))
    try:
        yield
    finally:
        handler.close()
        logger.handlers = handlers
        logger.setLevel(level)


def say(message: str) -> None:
    """Log a message for the person watching; one that begins with `warning: ` is a warning."""
    warning = message.removeprefix("warning: ")
    if warning != message:
        logger.warning(warning)
    else:
        logger.info(message)


def say_once(message: str) -> None:
    """Log a message, unless this process has logged the same before."""
    if message not in _logged:
        _logged.add(message)
        say(message)


_logged: set[str] = set()


def display() -> Progress | None:
    """Return what redraws lines of progress on the terminal, None where messages are not shown on one."""
    handler = next((handler for handler in logger.handlers if isinstance(handler, _Shown)), None)
    return handler.display() if handler and logger.isEnabledFor(logging.INFO) else None


class _Shown(logging.Handler):
    """Writes records to standard error, above lines that are being redrawn."""

    def __init__(self, form: Format, timed: bool):
        super().__init__()
        self.form, self.timed = form, timed
        self._display: Progress | None = None

    def display(self) -> Progress | None:
        """Return the lines of progress; None where they would not be redrawn."""
        if self._display is None and self.form == "text" and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            console = Console(stderr=True, markup=False, highlight=False)
            columns = (BarColumn(bar_width=20), TextColumn("{task.description}", markup=False))
            self._display = Progress(*columns, console=console, transient=True)
        return self._display

    def emit(self, record: logging.LogRecord) -> None:
        line = self.json(record) if self.form == "json" else self.text(record)
        if self._display is not None and self._display.live.is_started:
            self._display.console.print(line, soft_wrap=True)
        else:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    def text(self, record: logging.LogRecord) -> str:
        """Return a record as a line for people."""
        message = record.getMessage()
        if record.levelno >= logging.WARNING:
            message = f"{'warning' if record.levelno == logging.WARNING else 'augury'}: {message}"
        return f"{time.strftime('%H:%M:%S', time.localtime(record.created))} {message}" if self.timed else message

    def json(self, record: logging.LogRecord) -> str:
        """Return a record as a line for machines."""
        now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
        entry = {"time": now, "level": record.levelname.lower(), "message": record.getMessage()}
        return json.dumps(entry, ensure_ascii=False)

    def close(self) -> None:
        if self._display is not None:
            self._display.stop()
        super().close()
