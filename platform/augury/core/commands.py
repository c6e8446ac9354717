"""Command lines to show to users."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path


def command(program: str, *words: str, absolute: bool = False) -> str:
    """Return a shell command line that runs a program of this Python environment.

    The program is given by its path if the shell would not find it, or would find another one. The
    path is relative if it is below the working directory, unless `absolute`.
    """
    executable, on_path = Path(sys.executable).with_name(program), shutil.which(program)
    if executable.exists() and (
        on_path is None or Path(on_path).parent.resolve() != executable.parent.resolve()
    ):
        here = Path.cwd()
        relative = executable.is_relative_to(here) and not absolute
        program = str(executable.relative_to(here) if relative else executable)
    return shlex.join([program, *words])
