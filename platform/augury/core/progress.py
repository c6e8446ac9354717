"""What a person sees while something runs: one line per stage with counts, rate and time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TextIO, TypeVar

T = TypeVar("T")

QUIET_SECONDS = 10.0  # between two lines of one stage where the output is not a terminal


def say(message: str) -> None:
    """One line for the person watching; standard output is kept for results."""
    print(message, file=sys.stderr, flush=True)


def say_once(message: str, stream: TextIO | None = None) -> None:
    """One line, unless this process has said the same before."""
    if message not in _said:
        _said.add(message)
        print(message, file=stream or sys.stderr, flush=True)


_said: set[str] = set()


class Stage:
    """A stage of work; on a terminal its line is redrawn, elsewhere it is printed now and then and at the end."""

    def __init__(self, name: str, total: int | None = None, unit: str = "rows", stream: TextIO | None = None):
        self.name, self.total, self.unit = name, total, unit
        self.stream = stream or sys.stderr
        self.done = 0
        self.note = ""
        self._start = self._shown = time.monotonic()
        self._terminal = self.stream.isatty()

    def __enter__(self) -> Stage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._show(final=True, state="" if kind is None else "  stopped")

    def advance(self, count: int = 1, note: str = "") -> None:
        """Count `count` more units; `note` replaces what is shown at the end of the line."""
        self.done += count
        self.note = note or self.note
        now = time.monotonic()
        if now - self._shown > (0.2 if self._terminal else QUIET_SECONDS) and self.done != self.total:
            self._shown = now
            self._show(final=False)

    def over(self, items: Iterable[T]) -> Iterator[T]:
        """Iterate while counting one unit per item."""
        for item in items:
            yield item
            self.advance()

    def _show(self, final: bool, state: str = "") -> None:
        elapsed = max(time.monotonic() - self._start, 1e-6)
        rate = self.done / elapsed
        of = f"{self.done:,}" + (f"/{self.total:,}" if self.total and not final else "")
        line = f"{self.name:<22} {of} {self.unit}  {_rate(rate)} {self.unit}/s"
        if final:
            line += f"  {duration(elapsed)}{state}"
        elif self.total and self.done:
            line += f"  {duration((self.total - self.done) / rate)} left"
        line += f"  {self.note}" if self.note else ""
        if self._terminal:
            self.stream.write("\r\x1b[K" + line + ("\n" if final else ""))
        else:
            self.stream.write(line + "\n")
        self.stream.flush()


def duration(seconds: float) -> str:
    """Seconds for people: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
