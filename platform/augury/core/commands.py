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


def mlflow_command(uri: str) -> str:
    """Return the command that shows an MLflow store, or its address where a server does.

    With MLflow's four workers it takes a minute to answer on a busy machine.
    """
    if uri.startswith("http"):
        return uri
    return command("mlflow", "ui", "--workers", "1", "--backend-store-uri", uri)
