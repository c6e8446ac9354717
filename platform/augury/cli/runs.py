"""`augury runs`: list the runs of a storage, delete them, clean and verify it."""

from __future__ import annotations

import argparse
import fnmatch
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from augury.cli.common import RESULTS, print_json
from augury.core.errors import UserError, unknown
from augury.core.naming import counted
from augury.core.progress import Stage, duration, say

if TYPE_CHECKING:
    from augury.core.store import Folder, Store
    from augury.core.verification import Checked
    from augury.experiments.record import RunRecord

HELP = (
    "List the runs of a storage with state, score, date, cost and size; delete them; clean and "
    "verify the storage."
)
EXAMPLE = """augury runs results
  augury runs results 'my/*' --state scored --sort score
  augury runs results my/CipherDAug/1 --delete --yes
  augury runs results --clean       # says what no run needs; with --yes, removes it
  augury runs results --verify"""
FOREIGN = ("mlartifacts/*", "sweeps/*/tune/*")
"""Files of MLflow and Ray Tune, by pattern."""
STATES = ("scored", "trained", "running", "failed", "unfinished", "damaged")
"""trained: not scored; unfinished: interrupted, or ended by a budget; damaged: of which nothing
can be read but the folder."""
ORDERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "name": lambda run: run["name"],
    "score": lambda run: -(run["score"] or 0.0),
    "cost": lambda run: -(run["seconds"] or 0.0),
    "size": lambda run: -run["bytes"],
}
"""The orders of the list besides that by date."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument(
        "storage", nargs="?", default=RESULTS, help=f"storage of the runs (default: {RESULTS})"
    )
    parser.add_argument(
        "runs",
        nargs="*",
        metavar="RUN",
        help="only these: names as for other commands, or patterns such as 'my/*' (default: all)",
    )
    parser.add_argument("--state", nargs="+", metavar="STATE", help=", ".join(STATES))
    parser.add_argument("--task", help="only runs of this task")
    parser.add_argument(
        "--sort",
        choices=("date", *ORDERS),
        default="date",
        help="order of the list (default: date)",
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--delete",
        action="store_true",
        help="delete the runs that are given or match, with all that was made from them: without "
        "--yes, says what would go",
    )
    action.add_argument(
        "--clean",
        action="store_true",
        help="remove what no run refers to, and what killed processes have left behind: without "
        "--yes, says what would go",
    )
    action.add_argument(
        "--verify", action="store_true", help="compare all files with their checksums"
    )
    parser.add_argument("--yes", action="store_true", help="delete or remove")
    parser.add_argument(
        "--hours",
        type=float,
        default=24.0,
        help="with --clean: only what has not changed for so many hours (default: 24)",
    )


def run(arguments: argparse.Namespace) -> int:
    from augury.core.store import Store
    from augury.reporting.tables import plain_text, records

    store = Store(arguments.storage)
    if "://" not in store.root and not os.path.isdir(store.root):
        raise UserError(f"there is no storage {store.root}: give its directory")
    if arguments.verify:
        return _verify(store, arguments.json)
    if arguments.clean:
        return _clean(store, arguments)
    folders = _select(store, arguments)
    if arguments.delete:
        return _delete(store, folders, arguments)
    runs = [_listed(name, folder) for folder, name in folders.items()]
    runs.sort(key=lambda run: run["date"], reverse=True)
    if arguments.sort in ORDERS:
        runs.sort(key=ORDERS[arguments.sort])
    if arguments.json:
        print_json(runs)
    elif runs:
        print(plain_text([records([_cells(run) for run in runs], kind="words")]))
    else:
        say(_no_run(store))
    return 0


def _no_run(store: Store) -> str:
    return f"no run in {store.root} matches: names are EXPERIMENT/SYSTEM/SEED"


def _names(store: Store) -> dict[Folder, str]:
    """Return the name of every run that training has described; of a damaged one its folder's."""
    from augury.experiments.stored_runs import folders
    from augury.reporting.find import named_systems

    names: dict[Folder, str] = {}
    for system in named_systems(store):
        for seed, folder in system.runs.items():
            names.setdefault(folder, f"{system.name}/{seed}")
    return {folder: names.get(folder, folder.name) for folder in folders(store)}


def _select(store: Store, arguments: argparse.Namespace) -> dict[Folder, str]:
    """Return the runs, with their names, that the arguments name and the filters let through."""
    from augury.reporting.find import find

    for state in arguments.state or ():
        if state not in STATES:
            raise unknown("state", state, STATES)
    runs = _names(store)
    if arguments.runs:
        chosen: set[Folder] = set()
        for word in arguments.runs:
            if re.search(r"[*?\[]", word):
                chosen |= {run for run, name in runs.items() if fnmatch.fnmatch(name, word)}
            else:
                chosen |= set(find(word, store.root))
        runs = {run: name for run, name in runs.items() if run in chosen}
    for run in list(runs) if arguments.state or arguments.task else ():
        record = _record(run)
        of_task = not arguments.task or (record is not None and record.task == arguments.task)
        if not of_task or _state(run, record) not in (arguments.state or STATES):
            del runs[run]
    return runs


def _record(run: Folder) -> RunRecord | None:
    """Return what is recorded of a run; None, with a warning, where that is damaged."""
    from augury.experiments.record import RunRecord
    from augury.experiments.stored_runs import intact

    return intact([run], RunRecord.read).get(run)


def _state(run: Folder, record: RunRecord | None) -> str:
    from augury.core.locks import is_locked
    from augury.training.trained import FAILURE

    if record is None:
        return "damaged"
    if run.complete:
        return "scored" if record.evaluated else "trained"
    if is_locked(run):
        return "running"
    return "failed" if run.exists(FAILURE) else "unfinished"


def _listed(name: str, run: Folder) -> dict[str, Any]:
    """Return a run, with its deciding score on the first test set, as JSON-like values.

    `seconds` is the processor time of all trainings behind the run or, where that is not known
    (`clock`), their wall time.
    """
    from augury.experiments.record import RunRecord
    from augury.experiments.stored_runs import size

    known = _record(run)
    _, address, seed = run.name.split("/")
    record = known or RunRecord(name, address, int(seed.removeprefix("seed-")), task=None)
    test, scores = next(iter(record.tests.items()), (None, ()))
    score, cost = next(iter(scores), None), record.cost
    on_cpu = cost is None or cost.cpu_seconds is not None
    return {
        "name": name,
        "system": record.name,
        "experiment": record.experiment,
        "seed": record.seed,
        "task": record.task,
        "state": _state(run, known),
        "test": test,
        "metric": score and score.name,
        "score": score and score.value,
        "date": _date(run).isoformat(timespec="seconds"),
        "seconds": cost and (cost.cpu_seconds if on_cpu else cost.train_seconds),
        "clock": "cpu" if on_cpu else "wall",
        "bytes": size(run),
        "run": run.uri,
    }


def _date(run: Folder) -> datetime:
    """Return when a run was last trained, by its history; copying does not change it."""
    from augury.experiments.record import DESCRIPTION
    from augury.training import history

    files = sorted(history.files(run), key=lambda file: file.partition(".")[0])
    try:
        if files and (validations := history.records(run, files[-1])):
            return datetime.fromtimestamp(validations[-1]["time"], UTC)
    except UserError:  # damaged
        pass
    info = run.info(DESCRIPTION)
    return datetime.fromtimestamp(info.modified or 0.0 if info else 0.0, UTC)


def _cells(run: dict[str, Any]) -> dict[str, object]:
    """Return a run as a row of the list."""
    from augury.scoring.registry import title

    score, time_, clock = "", None, "" if run["clock"] == "cpu" else " (wall)"
    if run["metric"]:
        score = f"{run['test']}: {title(run['metric'])} {run['score']:.1f}"
    if run["seconds"] is not None:
        time_ = f"{duration(run['seconds'])}{clock}"
    return {
        "run": run["name"],
        "task": run["task"] or "",
        "state": run["state"],
        "score": score,
        "date (UTC)": run["date"][:16].replace("T", " "),
        "CPU time": time_,
        "size": size_text(run["bytes"]),
    }


def size_text(count: float) -> str:
    """Return a number of bytes with its unit: `3.2 MB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _delete(store: Store, runs: dict[Folder, str], arguments: argparse.Namespace) -> int:
    """Delete runs with what depends on them, or say what would go."""
    from augury.core.locks import is_locked
    from augury.experiments import stored_runs
    from augury.tracking import sync

    if not (arguments.runs or arguments.state or arguments.task):  # all: never meant
        raise UserError(f"say which runs: augury runs {arguments.storage} RUN ...")
    going = [*runs, *stored_runs.dependents(runs, store)]
    names = _names(store)
    if running := [names[folder] for folder in going if folder in names and is_locked(folder)]:
        raise UserError(f"{', '.join(running)} is being trained: stop it first")
    sizes = {folder: stored_runs.size(folder) for folder in going}
    if arguments.yes:
        sync.forget(store, going)
        stored_runs.remove(going)
    total = sum(sizes.values())
    if arguments.json:
        folders = [folder.name for folder in going]
        print_json({"deleted": arguments.yes, "folders": folders, "bytes": total})
        return 0
    for folder in going:
        because = "" if folder in runs else ", made from it"
        print(f"{names.get(folder, folder.name)}  {size_text(sizes[folder])}{because}")
    count = f"{counted(len(going), 'folder')}, {size_text(total)}"
    if not going:
        say(_no_run(store))
    elif arguments.yes:
        print(f"deleted {count}")
    else:
        print(f"{count}, would be deleted: repeat the command with --yes")
    return 0


def _clean(store: Store, arguments: argparse.Namespace) -> int:
    """Remove what nothing needs, or list it."""
    from augury.core.locks import any_held
    from augury.experiments.cleanup import unused
    from augury.experiments.record import KIND as RUNS
    from augury.sweeping.state import KIND as SWEEPS

    if not arguments.hours >= 0:
        raise UserError(f"--hours {arguments.hours}: give a number of hours, at least 0")
    if busy := any_held(store):
        say(f"a command works in {store.root}: its texts are kept; repeat this when it has ended")
    items = unneeded = unused(store, arguments.hours, users=(RUNS, SWEEPS))
    if arguments.yes:
        items = [item for item in unneeded if item.remove(store)]
        for item in unneeded:
            if item not in items:
                say(f"{item.path} is kept: a process works with it, or it may not be removed")
    size = sum(item.bytes for item in items)
    if arguments.json:
        unused_items = [asdict(item) for item in items]
        print_json({"removed": arguments.yes, "bytes": size, "unused": unused_items})
        return 0
    for item in items:
        print(f"{item.kind:<9}  {size_text(item.bytes):>8}  {item.path}")
    kinds = Counter(item.kind for item in items)
    shown = ", ".join(f"{kind}: {count:,}" for kind, count in kinds.items())
    if items and arguments.yes:
        print(f"removed {size_text(size)} ({shown})")
    elif items:
        print(f"{size_text(size)} ({shown}) would be removed: repeat the command with --yes")
    elif not (busy or unneeded):
        say(f"nothing in {store.root} is unused")
    return 0


def _verify(store: Store, as_json: bool) -> int:
    """Compare all files with their checksums; return 1 where one is damaged."""
    from augury.core.verification import verify
    from augury.experiments.record import RECORDS

    since = time.monotonic()
    with Stage("verify", unit="files") as stage:
        checked = list(stage.over(verify(store, RECORDS, FOREIGN)))
    damaged = [file for file in checked if file.damage]
    size, seconds = sum(file.bytes for file in checked), time.monotonic() - since
    faults = [
        {"file": file.name, "damage": file.damage, "remedy": _remedy(file)} for file in damaged
    ]
    if as_json:
        facts = {"files": len(checked), "bytes": size, "seconds": round(seconds, 3)}
        print_json({**facts, "damaged": faults})
    else:
        for fault in faults:
            print("{file} {damage}: {remedy}".format(**fault))
        print(f"{counted(len(checked), 'file')}, {size_text(size)}: {len(damaged):,} damaged")
    return 1 if damaged else 0


def _remedy(file: Checked) -> str:
    """Return what to do about a damaged file."""
    from augury.experiments.record import KIND
    from augury.scoring.stored import HYPOTHESES, SCORES, STATISTICS

    kind, *parts = file.name.split("/")
    if kind == KIND and len(parts) > 2:
        run, below = "/".join([kind, *parts[:2]]), parts[2]
        if below in (HYPOTHESES, SCORES, STATISTICS):
            return "the next `augury train` scores the run anew"
        if below == "ctranslate2":
            return "the next translation makes it anew from the weights"
        if below == "checkpoints":
            return "needed by an unfinished run alone, which goes on from the checkpoint before"
        return f"remove {run} and train it again"
    if len(parts) > 1 and len(parts[0]) == 16:
        return "the next command that needs it makes it anew"
    return "the next command that writes it replaces it, or remove it"
