"""Commands that are shown to people, as their shell finds them."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path


def command(program: str, *words: str, absolute: bool = False) -> str:
    """Return a command line for a program of this environment: by its path where a shell finds none or another one.

    The path is relative to the working directory where it lies below that, unless it is to be `absolute`.
    """
    executable, known = Path(sys.executable).with_name(program), shutil.which(program)
    if executable.exists() and (known is None or Path(known).parent.resolve() != executable.parent.resolve()):
        here = Path.cwd()
        below = executable.is_relative_to(here) and not absolute
        program = str(executable.relative_to(here) if below else executable)
    return shlex.join([program, *words])
