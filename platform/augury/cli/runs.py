"""`augury runs`: list the runs of a storage, delete them, clean and verify it."""

from __future__ import annotations

import argparse
import fnmatch
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from augury.cli.common import RESULTS, print_json, print_table
from augury.core.errors import UserError, unknown
from augury.core.locks import any_held, is_locked
from augury.core.messages import say
from augury.core.naming import counted
from augury.core.progress import ProgressLine, duration
from augury.core.store import Folder, Store, modified
from augury.core.verification import verify
from augury.experiments import stored_runs
from augury.experiments.record import DESCRIPTION, RECORDS, RUNS, RunRecord
from augury.reporting.find import find, named_systems
from augury.reporting.numbers import number
from augury.sweeping import state
from augury.training import history
from augury.training.trained import FAILURE

EXAMPLE = """augury runs results
  augury runs results 'my/*' --state scored
  augury runs results my/CipherDAug/1 --delete --yes
  augury runs results --clean       # says what no run needs; with --yes, removes it
  augury runs results --verify"""
FOREIGN = ("mlartifacts/*", "*/tune/*")
"""Files of MLflow, which are copies of some of a run's, and of Ray Tune, by pattern."""
STATES = ("scored", "trained", "running", "failed", "unfinished", "damaged")
"""trained: not scored; unfinished: interrupted, or ended by a budget; damaged: of which nothing
can be read but the folder."""


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add, action = parser.add_argument, parser.add_mutually_exclusive_group().add_argument
    flag: dict[str, Any] = {"action": "store_true"}
    add("storage", nargs="?", default=RESULTS, help=f"storage of the runs (default: {RESULTS})")
    text = "only these: names as for other commands, or patterns such as 'my/*' (default: all)"
    add("runs", nargs="*", metavar="RUN", help=text)
    add("--state", nargs="+", metavar="STATE", help=", ".join(STATES))
    add("--task", help="only runs of this task")
    text = "delete the runs that are given or match, with all that was made from them"
    action("--delete", **flag, help=text)
    text = "remove what no run refers to, and what killed processes have left behind"
    action("--clean", **flag, help=text)
    action("--verify", **flag, help="compare all files with their checksums")
    add("--yes", **flag, help="delete or remove; without it, says what would go")
    text = "with --clean: only what has not changed for so many hours (default: 24)"
    add("--hours", type=float, default=24.0, metavar="N", help=text)


def run(arguments: argparse.Namespace) -> int:
    store = Store.existing(arguments.storage)
    chosen = arguments.runs or arguments.state or arguments.task
    if chosen and (arguments.verify or arguments.clean):
        raise UserError("--clean and --verify are for the whole storage: leave out RUN and filters")
    if arguments.verify:
        return _verify(store, arguments.json)
    if arguments.clean:
        return _clean(store, arguments)
    runs = _select(store, arguments)
    if not runs:
        say(f"no run in {store.root} matches: names are EXPERIMENT/SYSTEM/SEED")
    if arguments.delete:
        return _delete(store, runs, arguments)
    listed = sorted(runs.values(), key=lambda run: run["date"], reverse=True)
    if arguments.json:
        print_json(listed)
    elif listed:
        print_table([_row(run) for run in listed])
    return 0


def _select(store: Store, arguments: argparse.Namespace) -> dict[Folder, dict[str, Any]]:
    """Return the runs that the arguments name and the filters let through."""
    for wanted in arguments.state or ():
        if wanted not in STATES:
            raise unknown("state", wanted, STATES)
    runs: dict[Folder, list[str]] = {folder: [] for folder in stored_runs.folders(store)}
    for system, seeds in named_systems(store).items():
        for seed, folder in seeds.items():
            runs[folder].append(f"{system}/{seed}")
    if arguments.runs:
        chosen: set[Folder] = set()
        for word in arguments.runs:
            if re.search(r"[*?\[]", word):
                chosen |= {run for run, names in runs.items() if fnmatch.filter(names, word)}
            else:
                chosen |= set(find(word, store.root))
        runs = {run: names for run, names in runs.items() if run in chosen}
    # A damaged one is called by its folder.
    listed = {run: _listed(names or [run.name], run) for run, names in runs.items()}
    return {
        run: facts
        for run, facts in listed.items()
        if facts["state"] in (arguments.state or STATES)
        and facts["task"] == (arguments.task or facts["task"])
    }


def _listed(names: Sequence[str], run: Folder) -> dict[str, Any]:
    """Return a run, with its deciding score on the first test set, as JSON-like values.

    `names` are its names in the experiments and sweeps that share it; the first is `name`.
    `seconds` is the processor time of all trainings behind the run or, where that is not known
    (`clock`), their wall time.
    """
    known = stored_runs.intact([run], RunRecord.read).get(run)
    _, address, seed = run.name.split("/")
    record = known or RunRecord(names[0], address, int(seed.removeprefix("seed-")), task=None)
    if known is None:
        current = "damaged"
    elif run.complete:
        current = "scored" if record.is_scored else "trained"
    elif is_locked(run):
        current = "running"
    else:
        current = "failed" if run.exists(FAILURE) else "unfinished"
    test, scores = next(iter(record.tests.items()), (None, ()))
    score, cost = next(iter(scores), None), record.cost
    on_cpu = cost is None or cost.cpu_seconds is not None
    return {
        "name": names[0],
        "names": [*names],
        "system": record.name,
        "experiment": record.experiment,
        "seed": record.seed,
        "task": record.task,
        "state": current,
        "test": test,
        "metric": score and score.name,
        "score": score and score.value,
        "date": datetime.fromtimestamp(_trained_at(run), UTC).isoformat(timespec="seconds"),
        "seconds": cost and (cost.cpu_seconds if on_cpu else cost.train_seconds),
        "clock": "cpu" if on_cpu else "wall",
        "bytes": stored_runs.size(run),
        "run": run.uri,
    }


def _trained_at(run: Folder) -> float:
    """Return when a run was last trained, by its history; copying does not change it."""
    with suppress(UserError):  # where it is damaged
        if records := history.read(run):
            return records[-1]["time"]
    info = run.info(DESCRIPTION)
    return modified(info) if info else 0.0


def _row(run: dict[str, Any]) -> dict[str, object]:
    """Return a run as a row of the list."""
    from augury.scoring.registry import title

    row: dict[str, object] = {"run": run["name"], "task": run["task"] or "", "state": run["state"]}
    row |= {"score": "", "date (UTC)": run["date"][:16].replace("T", " "), "CPU time": None}
    if run["metric"]:
        row["score"] = f"{run['test']}: {title(run['metric'])} {number(run['score'])}"
    if run["seconds"] is not None:
        clock = "" if run["clock"] == "cpu" else " (wall)"
        row["CPU time"] = f"{duration(run['seconds'])}{clock}"
    return {**row, "size": _size(run["bytes"])}


def _size(count: float) -> str:
    return f"{count / 1e6:,.1f} MB" if count < 1e9 else f"{count / 1e9:,.1f} GB"


def _delete(store: Store, runs: dict[Folder, dict[str, Any]], arguments: argparse.Namespace) -> int:
    """Delete runs with what depends on them, or say what would go."""
    if not (arguments.runs or arguments.state or arguments.task):  # all: never meant
        raise UserError(f"say which runs: augury runs {arguments.storage} RUN ...")
    going = [*runs, *stored_runs.dependents(runs, store)]
    for folder in going:
        if folder.name.startswith(f"{RUNS}/") and is_locked(folder):
            raise UserError(f"{folder.uri} is being trained: stop it first")
    sizes = [stored_runs.size(folder) for folder in going]
    if arguments.yes:
        stored_runs.remove(going)
    if arguments.json:
        folders = [folder.name for folder in going]
        print_json({"deleted": arguments.yes, "folders": folders, "bytes": sum(sizes)})
        return 0
    for folder, size in zip(going, sizes, strict=True):
        name = runs[folder]["name"] if folder in runs else f"{folder.name}, made from it"
        print(f"{name}  {_size(size)}")
    done = "deleted" if arguments.yes else "would be deleted: repeat the command with --yes"
    print(f"{counted(len(going), 'folder')}, {_size(sum(sizes))}, {done}")
    return 0


def _clean(store: Store, arguments: argparse.Namespace) -> int:
    """Remove what nothing needs, or list it."""
    if not arguments.hours >= 0:
        raise UserError(f"--hours {arguments.hours}: give a number of hours, at least 0")
    if any_held(store):
        say(f"a command works in {store.root}: its texts are kept; repeat this when it has ended")
    items = stored_runs.unused(store, arguments.hours, users=(RUNS, state.SWEEPS))
    if arguments.yes:
        unneeded, items = items, [item for item in items if item.remove(store)]
        for item in unneeded:
            if item not in items:
                say(f"{item.path} is kept: a process works with it, or it may not be removed")
    size = sum(item.bytes for item in items)
    if arguments.json:
        unused = [asdict(item) for item in items]
        print_json({"removed": arguments.yes, "bytes": size, "unused": unused})
        return 0
    for item in items:
        print(f"{item.kind:<9}  {_size(item.bytes):>10}  {item.path}")
    kinds = Counter(item.kind for item in items)
    shown = ", ".join(counted(count, kind) for kind, count in kinds.items()) or "nothing"
    done = "removed" if arguments.yes else "would be removed: repeat the command with --yes"
    print(f"{shown}, {_size(size)}, {done}")
    return 0


def _verify(store: Store, as_json: bool) -> int:
    """Compare all files with their checksums; return 1 where one is damaged."""
    checked = []
    with ProgressLine("verify", unit="files") as progress:
        for checked_file in verify(store, RECORDS, FOREIGN):
            checked.append(checked_file)
            progress.advance()
    damaged = [{"file": file.name, "damage": file.damage} for file in checked if file.damage]
    size = sum(file.bytes for file in checked)
    if as_json:
        print_json({"files": len(checked), "bytes": size, "damaged": damaged})
    else:
        for file in damaged:
            print("{file} {damage}".format(**file))
        print(f"{counted(len(checked), 'file')}, {_size(size)}: {len(damaged):,} damaged")
        if damaged:
            print("a command that needs one of them makes it anew, or says what to remove")
    return 1 if damaged else 0
