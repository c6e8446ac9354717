"""How far the record of a run or a sweep has got, and what it is to say beyond the folder: `tracking.json` in there.

Another process goes on from it where this one was killed.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from augury.core.store import MARKER, Folder

LEDGER = "tracking.json"

_ledgers = threading.Lock()


def ledger(folder: Folder) -> dict[str, Any]:
    """The entries of a run or a sweep, with those not written yet at their defaults.

    `run_id` in MLflow; `parent`, the sweep that a run is shown under; `status`, `started`, `finished` (seconds since
    1970) and `as_of`, when that was so; `answer` of a sweep; `files` to keep; `kept`, whether MLflow has them; `sent`,
    the last update sent of each metric; `closed`, the `finished` up to which MLflow has everything.
    """
    marker = folder.filesystem.get_file_info(folder.path(MARKER))  # a run that was never tracked may be complete
    complete = marker.mtime is not None
    fresh: dict[str, Any] = {
        "run_id": None,
        "parent": None,
        "status": "FINISHED" if complete else "RUNNING",
        "started": None,
        "finished": marker.mtime.timestamp() if complete else None,
        "as_of": 0.0,
        "answer": None,
        "files": [],
        "kept": False,
        "sent": {},
        "closed": False,
    }
    return {**fresh, **_written(folder)}


def note(folder: Folder, **changes: Any) -> None:
    """Change entries of a ledger; equal ones cost no writing."""
    with _ledgers:
        written = _written(folder)
        if {**written, **changes} != written:
            folder.write_json(LEDGER, {**written, **changes})


def closed(state: Mapping[str, Any]) -> bool:
    """Whether a run has ended and MLflow has all of it; a run that starts or ends again is open again."""
    return state["status"] != "RUNNING" and state["closed"] == state["finished"]


def _written(folder: Folder) -> dict[str, Any]:
    return dict(folder.read_json(LEDGER)) if folder.exists(LEDGER) else {}
