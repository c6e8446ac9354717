"""Progress reports: live lines on a terminal, otherwise occasional messages."""

from __future__ import annotations

import time
from typing import Self

from augury.core import messages
from augury.core.messages import logger

LIVE_SECONDS, QUIET_SECONDS = 0.1, 10.0
"""The least time between two texts of a line that is live, and of one that is not."""


class StatusLine:
    """A line of status until the context ends: on a terminal live, the latest to speak of several;
    elsewhere now and then a message."""

    def __init__(self, text: str = "") -> None:
        self._handler = messages.live_handler()
        self.live = self._handler is not None
        """Whether the line is updated in place on a terminal."""
        self._last = text
        self._shown = 0.0 if self.live else time.monotonic()

    def __enter__(self) -> Self:
        self._redraw(self._last)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._redraw("")

    @property
    def due(self) -> bool:
        """Whether it is time for another text."""
        seconds = LIVE_SECONDS if self.live else QUIET_SECONDS
        return time.monotonic() - self._shown >= seconds

    def show(self, text: str, share: float | None = None) -> None:
        """Show `text`, with the fraction `share` that is done if it is known; what has not changed
        is not said again."""
        if text == self._last or not (self.live or self.due):
            return
        self._shown, self._last = time.monotonic(), text
        self._redraw(text if share is None else f"{share:4.0%} {text}")
        if not self.live:
            logger.info(text)

    def _redraw(self, text: str) -> None:
        if self._handler:
            self._handler.show(text)


class ProgressLine(StatusLine):
    """The line of some work: count, rate and time left; logs one message when it ends."""

    def __init__(self, name: str, total: int | None = None, unit: str = "rows"):
        super().__init__(name)
        self.name, self.total, self.unit = name, total, unit
        self.done = 0
        self._start = time.monotonic()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        super().__exit__(kind)
        ended = duration(time.monotonic() - self._start) + ("" if kind is None else ", stopped")
        logger.info(self._text(f"{self.done:,} {self.unit}", ended))

    def advance(self, count: int = 1) -> None:
        """Add `count` units."""
        self.done += count
        if not self.due or self.done == self.total:
            return
        share = self.done / self.total if self.total else None
        elapsed = time.monotonic() - self._start
        left = f"{duration(elapsed / share - elapsed)} left" if share else ""
        total = f"/{self.total:,}" if self.total else ""
        self.show(self._text(f"{self.done:,}{total} {self.unit}", left), share)

    def _text(self, count: str, when: str) -> str:
        rate = self.done / max(time.monotonic() - self._start, 1e-6)
        speed = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
        return " · ".join(filter(None, (self.name, count, f"{speed} {self.unit}/s", when)))


def duration(seconds: float) -> str:
    """Format a duration: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
