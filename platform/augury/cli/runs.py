"""`augury runs`: list the runs of a storage; name, tag and delete them."""

from __future__ import annotations

import argparse
import fnmatch
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from augury.cli.common import RESULTS, open_storage, print_json
from augury.core.errors import UserError
from augury.core.naming import counted, file_name
from augury.core.progress import say

if TYPE_CHECKING:
    from augury.core.store import Folder, Store
    from augury.reporting.run_list import StoredRun

HELP = "List the runs of a storage with state, score, date, cost and size; name, tag, delete them."
EXAMPLE = """augury runs results
  augury runs results 'my/*' --state scored --sort score
  augury runs results my/CipherDAug --name best --tag checked
  augury runs results my/CipherDAug/1 --delete --yes"""
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
    parser.add_argument("--tagged", metavar="TAG", help="only runs with this tag")
    parser.add_argument(
        "--sort", choices=SORTS, default="date", help="order of the list (default: date)"
    )
    action = parser.add_argument_group("to change the runs that are given or match")
    action.add_argument(
        "--name", help="another name for them, the seeds of one system; '' removes it"
    )
    action.add_argument("--tag", nargs="+", default=[], metavar="TAG", help="add tags")
    action.add_argument("--untag", nargs="+", default=[], metavar="TAG", help="remove tags")
    action.add_argument(
        "--delete",
        action="store_true",
        help="delete them with all that was made from them: without --yes, says what would go",
    )
    action.add_argument("--yes", action="store_true", help="delete without asking")


def run(arguments: argparse.Namespace) -> int:
    from augury.reporting import run_list, tables

    store = open_storage(arguments.storage)
    runs = _select(store, arguments)
    if arguments.delete:
        return _delete(store, runs, arguments)
    if arguments.tag or arguments.untag or arguments.name is not None:
        _relabel(store, runs, arguments)
        runs = _select(store, arguments)
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
        and (arguments.tagged is None or arguments.tagged in run.label.tags)
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


def _relabel(store: Store, runs: Sequence[StoredRun], arguments: argparse.Namespace) -> None:
    """Change the names and tags of runs."""
    from augury.reporting import run_names
    from augury.tracking import sync

    _refuse_all(arguments)
    name = arguments.name
    if name:
        file_name(name, "--name ")
        addresses = {run.record.address for run in runs}
        holders = {of.address for of in run_names.named_runs(store) if of.name == name}
        if len(addresses | holders) > 1:
            raise UserError(
                f"--name {name}: a name belongs to the seeds of one system, and there are "
                f"{len(addresses | holders)}: give runs of one, and a name that is free"
            )
    for run in runs:
        kept = [tag for tag in (*run.label.tags, *arguments.tag) if tag not in arguments.untag]
        label = run.label.name if name is None else name or None
        run_names.write_label(run.folder, run_names.Label(label, tuple(dict.fromkeys(kept))))
    sync.relabel(store, [run.folder for run in runs])


def _delete(store: Store, runs: Sequence[StoredRun], arguments: argparse.Namespace) -> int:
    """Delete runs with what depends on them, or say what would go."""
    from augury.core.locks import is_locked
    from augury.experiments import stored_runs
    from augury.reporting import run_list
    from augury.tracking import sync

    _refuse_all(arguments)
    names = {run.folder: run.name for run in run_list.stored(store)}
    folders = [run.folder for run in runs]
    going = [*folders, *stored_runs.dependents(folders, store)]
    if running := [names[folder] for folder in going if folder in names and is_locked(folder)]:
        raise UserError(f"{', '.join(running)} is being trained: stop it first")
    sizes = {folder: stored_runs.size(folder) for folder in going}
    if arguments.yes:
        sync.forget(store, going)
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
    if not (arguments.runs or arguments.state or arguments.task or arguments.tagged):
        raise UserError(f"say which runs: augury runs {arguments.storage} RUN ...")
