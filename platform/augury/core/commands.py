"""Commands that are shown to people, as their shell finds them."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path


def command(program: str, *words: str) -> str:
    """A command line for a program of this environment: by its path where the environment is not activated."""
    executable = Path(sys.executable).with_name(program)
    if shutil.which(program) is None and executable.exists():
        here = Path.cwd()
        program = str(executable.relative_to(here) if executable.is_relative_to(here) else executable)
    return shlex.join([program, *words])
