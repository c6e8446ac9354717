"""The working directory of a command, in which its processes on Ray work too."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def in_this_directory(call: Callable[P, R]) -> Callable[P, R]:
    """Return a call that works in the present working directory, in whatever process.

    Ray moves trials and workers into directories of its own, where the relative paths that a user
    wrote lead nowhere. A machine that has no such directory stays where it is.
    """
    directory = os.getcwd()

    @functools.wraps(call)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        if os.path.isdir(directory):
            os.chdir(directory)
        return call(*args, **kwargs)

    return inside
