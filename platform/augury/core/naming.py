"""Names of combinations of settings and of files, and command lines, as users read them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from augury.core.errors import UserError

FILE_NAME = r"^\w[\w.-]{0,99}$"
"""What names the files and folders of a storage: never hidden, never one outside, and no flag."""


def file_name(name: str, flag: str = "") -> str:
    """Return the name of a file or folder of a storage; UserError for what cannot be one, with the
    flag that gave it."""
    if not re.fullmatch(FILE_NAME, name):
        raise UserError(
            f"{flag}{name!r:.60} must be letters, digits, '_' and, not first, '-' and '.', at most "
            "100"
        )
    return name


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return `1 row` or `1,234 rows`; `plural` is that of a noun that does not end in `s` then."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


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


def title(point: Mapping[str, Any]) -> str:
    """Return `beta=5, tau=1` for values by dotted key; keys with the same last part are written
    out."""
    short, parts = [_last_part(key) for key in point], []
    for last, (key, value) in zip(short, point.items(), strict=True):
        parts.append(f"{last if short.count(last) == 1 else key}={_format(value)}")
    return ", ".join(parts)


def is_whole(text: str) -> bool:
    """Return whether a text is a whole number, whose digits are those of ASCII: int refuses some of
    the others, such as superscripts."""
    return text.isascii() and text.isdigit()


def _last_part(key: str) -> str:
    parts = [part for part in key.split(".") if not is_whole(part)]
    return parts[-1] if parts else key


def _format(value: Any) -> str:
    if isinstance(value, Mapping):
        name = value.get("name") or value.get("operator")
        rest = {key: item for key, item in value.items() if key not in ("name", "operator", "file")}
        if not name:
            return json.dumps(value, ensure_ascii=False)
        return f"{name}({title(rest)})" if rest else str(name)
    if isinstance(value, list | tuple):
        return "+".join(_format(item) for item in value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
