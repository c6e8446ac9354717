"""`augury runs`: list the runs of a storage, delete them, clean and verify it."""

from __future__ import annotations

import argparse
import fnmatch
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from augury.cli.common import RESULTS, open_storage, print_json
from augury.core.errors import UserError
from augury.core.naming import counted
from augury.core.progress import Stage, say

if TYPE_CHECKING:
    from augury.core.store import Folder, Store
    from augury.core.verification import Checked
    from augury.experiments.cleanup import Unused
    from augury.reporting.run_list import StoredRun

HELP = (
    "List the runs of a storage with state, score, date, cost and size; delete them; clean and "
    "verify the storage."
)
EXAMPLE = """augury runs results
  augury runs results 'my/*' --state scored --sort score
  augury runs results my/CipherDAug/1 --delete --yes
  augury runs results --clean       # says what no run needs; with --yes, removes it
  augury runs results --verify"""
NOUNS = {"temporary": "temporary file"}
"""Names of kinds, where they are other words."""
FOREIGN = ("mlartifacts/*", "sweeps/*/tune/*")
"""Files of MLflow and Ray Tune, by pattern."""
SORTS = ("date", "name", "score", "cost", "size")


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
    parser.add_argument(
        "--state",
        nargs="+",
        metavar="STATE",
        help="scored, trained, running, failed, unfinished or damaged",
    )
    parser.add_argument("--task", help="only runs of this task")
    parser.add_argument(
        "--sort", choices=SORTS, default="date", help="order of the list (default: date)"
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
        help="remove what no run refers to, and what killed processes have left behind, in the "
        "storage and among the temporary files of this machine: without --yes, says what would go",
    )
    action.add_argument(
        "--verify",
        action="store_true",
        help="compare all files with the checksums that were written with them",
    )
    parser.add_argument("--yes", action="store_true", help="delete or remove without asking")
    parser.add_argument(
        "--hours",
        type=float,
        default=24.0,
        help="with --clean: only what has not changed for so many hours, as a process may work on "
        "it (default: 24)",
    )


def run(arguments: argparse.Namespace) -> int:
    from augury.reporting import run_list, tables

    store = open_storage(arguments.storage)
    if arguments.verify:
        return _verify(store, arguments.json)
    if arguments.clean:
        return _clean(store, arguments)
    runs = _select(store, arguments)
    if arguments.delete:
        return _delete(store, runs, arguments)
    runs = _sorted(runs, arguments.sort)
    if arguments.json:
        print_json([run.to_dict() for run in runs])
    elif runs:
        print(tables.plain_text([run_list.run_table(runs)]))
    else:
        say(_no_run(store, arguments.runs))
    return 0


def _select(store: Store, arguments: argparse.Namespace) -> list[StoredRun]:
    """Return the runs of a storage that the arguments name and the filters let through."""
    from augury.core.errors import unknown
    from augury.reporting import run_list, run_names

    for state in arguments.state or ():
        if state not in run_list.STATES:
            raise unknown("state", state, run_list.STATES)
    runs = run_list.stored(store)
    if arguments.runs:
        named: set[Folder] = set()
        for word in arguments.runs:
            if _is_pattern(word):
                named |= {run.folder for run in runs if fnmatch.fnmatch(run.name, word)}
            else:
                named |= set(run_names.find(word, store.root))
        runs = [run for run in runs if run.folder in named]
    return [
        run
        for run in runs
        if (not arguments.state or run.state in arguments.state)
        and (arguments.task is None or run.record.task == arguments.task)
    ]


def _is_pattern(word: str) -> bool:
    return re.search(r"[*?\[]", word) is not None


def _no_run(store: Store, words: Sequence[str]) -> str:
    """Return that no run matches, with a pattern that does instead of one that leaves out parts of
    names."""
    from augury.reporting import run_list

    names = [run.name for run in run_list.stored(store)]
    if not names:
        return f"no run in {store.root} yet"
    idle = [word for word in words if _is_pattern(word) and not fnmatch.filter(names, word)]
    wider = [form for word in idle for form in (f"{word}/*", f"*/{word}", f"*/{word}/*")]
    matching = next((form for form in wider if fnmatch.filter(names, form)), None)
    hint = f": names are EXPERIMENT/SYSTEM/SEED, try '{matching}'" if matching else ""
    return f"no run in {store.root} matches{hint}"


def _sorted(runs: list[StoredRun], key: str) -> list[StoredRun]:
    """Return runs in an order; what has no such value comes last."""
    if key == "date":
        return runs
    if key == "name":
        return sorted(runs, key=lambda run: run.name)
    values = {
        run.folder: {
            "score": run.score and run.score[1].value,
            "cost": run.seconds,
            "size": run.bytes,
        }[key]
        for run in runs
    }
    return sorted(runs, key=lambda run: -(values[run.folder] or 0.0))


def _delete(store: Store, runs: Sequence[StoredRun], arguments: argparse.Namespace) -> int:
    """Delete runs with what depends on them, or say what would go."""
    from augury.core.locks import is_locked
    from augury.experiments import stored_runs
    from augury.reporting import run_list
    from augury.tracking.export import forget

    _refuse_all(arguments)
    names = {run.folder: run.name for run in run_list.stored(store)}
    folders = [run.folder for run in runs]
    going = [*folders, *stored_runs.dependents(folders, store)]
    if running := [names[folder] for folder in going if folder in names and is_locked(folder)]:
        raise UserError(f"{', '.join(running)} is being trained: stop it first")
    sizes = {folder: stored_runs.size(folder) for folder in going}
    if arguments.yes:
        forget(store, going)
        stored_runs.remove(going)
    result = {
        "deleted": arguments.yes,
        "folders": [folder.name for folder in going],
        "bytes": sum(sizes.values()),
    }
    if arguments.json:
        print_json(result)
        return 0
    for folder in going:
        because = "" if folder in folders else ", made from it"
        size = run_list.size_text(sizes[folder])
        print(f"{names.get(folder, folder.name)}  {size}{because}")
    total = run_list.size_text(sum(sizes.values()))
    if not going:
        say(_no_run(store, arguments.runs))
    elif arguments.yes:
        print(f"deleted {counted(len(going), 'folder')}, {total}")
    else:
        count = counted(len(going), "folder")
        print(f"{count}, {total}, would be deleted: repeat the command with --yes")
    return 0


def _refuse_all(arguments: argparse.Namespace) -> None:
    """Raise UserError for a change of all runs of a storage, which is never meant."""
    if not (arguments.runs or arguments.state or arguments.task):
        raise UserError(f"say which runs: augury runs {arguments.storage} RUN ...")


def _clean(store: Store, arguments: argparse.Namespace) -> int:
    """Remove what nothing needs, or list it."""
    from augury.core.locks import any_held
    from augury.experiments.cleanup import unused
    from augury.experiments.record import KIND as RUNS
    from augury.reporting.run_list import size_text
    from augury.sweeping.state import KIND as SWEEPS

    if not arguments.hours >= 0:
        raise UserError(f"--hours {arguments.hours}: give a number of hours, at least 0")
    if busy := any_held(store):
        say(f"a command works in {store.root}: its texts are kept; repeat this when it has ended")
    unneeded = unused(store, arguments.hours, users=(RUNS, SWEEPS))
    items = [item for item in unneeded if _is_removed(item, store)] if arguments.yes else unneeded
    size = sum(item.bytes for item in items)
    if arguments.json:
        print_json(
            {
                "removed": arguments.yes,
                "bytes": size,
                "unused": [asdict(item) for item in items],
            }
        )
        return 0
    for item in items:
        print(f"{item.kind:<9}  {size_text(item.bytes):>8}  {item.path}")
    counts = Counter(item.kind for item in items)
    shown = ", ".join(counted(count, NOUNS.get(kind, kind)) for kind, count in counts.items())
    if items and arguments.yes:
        print(f"removed {shown}: {size_text(size)}")
    elif items:
        print(f"{shown}, {size_text(size)}, would be removed: repeat the command with --yes")
    elif not (busy or unneeded):
        say(f"nothing in {store.root} is unused")
    return 0


def _is_removed(item: Unused, store: Store) -> bool:
    """Remove something unused; say where it is kept."""
    removed = item.remove(store)
    if not removed:
        say(f"{item.path} is kept: a process works with it, or it may not be removed")
    return removed


def _verify(store: Store, as_json: bool) -> int:
    """Compare all files with their checksums; return 1 where one is damaged."""
    from augury.core.verification import verify
    from augury.experiments.record import RECORDS
    from augury.reporting.run_list import size_text

    since = time.monotonic()
    with Stage("verify", unit="files") as stage:
        checked = list(stage.over(verify(store, RECORDS, FOREIGN)))
    damaged = [file for file in checked if file.damage]
    size, seconds = sum(file.bytes for file in checked), time.monotonic() - since
    if as_json:
        print_json(
            {
                "files": len(checked),
                "bytes": size,
                "seconds": round(seconds, 3),
                "damaged": [
                    {"file": file.name, "damage": file.damage, "remedy": _remedy(file)}
                    for file in damaged
                ],
            }
        )
    else:
        for file in damaged:
            print(f"{file.name} {file.damage}: {_remedy(file)}")
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
