"""Ctrl-C ends training between two updates, where its state can be saved."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType, TracebackType

from augury.training import distributed

NOTICE = b"\nstopping after this update; again to stop at once, without saving\n"


class Interrupted(KeyboardInterrupt):
    """Training was interrupted and has saved its state."""


class Interrupts:
    """A context in which the first Ctrl-C sets `requested`, and a second one interrupts at once."""

    def __init__(self) -> None:
        self.requested = False
        # Python sets handlers in the main thread only. Of several workers none may stop alone: the
        # others would wait for its gradients.
        in_main_thread = threading.current_thread() is threading.main_thread()
        self._handles = in_main_thread and distributed.world_size() == 1

    def __enter__(self) -> Interrupts:
        if self._handles:
            self._handler_before = signal.signal(signal.SIGINT, self._request)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._handles:
            signal.signal(signal.SIGINT, self._handler_before)

    def _request(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        # Not a message: what is being printed may be interrupted here.
        with suppress(OSError, ValueError, AttributeError):  # standard error may be no file
            os.write(sys.stderr.fileno(), NOTICE)
