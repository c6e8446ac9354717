"""The summary and the page of a sweep as files of its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from augury.core import config
from augury.core.roots import parts_around
from augury.reporting import rendering
from augury.reporting.sweeps.report import data, report
from augury.reporting.sweeps.summary import summarise
from augury.runs.record import SCORES
from augury.sweeping.state import PAGE, Sweep

SUMMARY = "summary.json"
STATE = "state"
"""The entry with a hash of what a summary depends on."""


def write(sweep: Sweep, refresh: int | None) -> None:
    """Write the page of a sweep and its summary; a browser loads the page again every `refresh`
    seconds."""
    shown = report(sweep, refresh)
    _write_summary(sweep, shown.data)
    sweep.folder.write(PAGE, rendering.page(shown))


def stored_summary(sweep: Sweep) -> dict[str, Any]:
    """Return the summary of a sweep, what `augury sweep --json` prints; it is made again where
    trials have gone on since it was stored."""
    if sweep.folder.exists(SUMMARY):
        summary = dict(sweep.folder.read_json(SUMMARY))
        if summary.get(STATE) == _state(sweep):
            return summary
    return _write_summary(sweep, data(summarise(sweep)))


def _write_summary(sweep: Sweep, content: Mapping[str, Any]) -> dict[str, Any]:
    """Write a summary; numbers that are not finite become null.

    It names the sweep and its runs by their folders in the storage, which may be moved, and leaves
    out the command that would settle the rest, which names the storage.
    """
    settle = content["settle"] and {**content["settle"], "command": ""}
    text = json.dumps({**content, "settle": settle, STATE: _state(sweep)}, ensure_ascii=False)
    for part in parts_around(sweep.folder.root):
        text = text.replace(json.dumps(part, ensure_ascii=False)[1:-1], "")
    summary: dict[str, Any] = json.loads(text, parse_constant=lambda _: None)
    sweep.folder.write_json(SUMMARY, summary)
    return summary


def _state(sweep: Sweep) -> str:
    """Return a hash of the progress of all trials and of the times of their scores."""
    progress = []
    for configuration, trial in sweep.trials:
        info = trial.folder.filesystem.get_file_info(trial.folder.path(SCORES))
        progress.append(
            [configuration.address, trial.seed, trial.progress, len(trial.curve), info.mtime_ns]
        )
    decisions = len(sweep.decisions)
    return config.address([sweep.ended, sweep.updated if sweep.ended else 0, decisions, progress])
