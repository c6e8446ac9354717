"""`augury track`: sync a storage to MLflow."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from augury.cli.common import print_json
from augury.core.errors import UserError
from augury.core.naming import counted

HELP = "Sync the runs of a storage to MLflow, for example after an outage of the server."
EXAMPLE = "MLFLOW_TRACKING_URI=http://server:5000 augury track results"


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument(
        "storage",
        nargs="?",
        default="results",
        help="directory or URI of the runs (default: results)",
    )
    parser.add_argument(
        "--uri", default=None, help="MLflow server or database (default: MLFLOW_TRACKING_URI)"
    )


def run(arguments: argparse.Namespace) -> int:
    from augury.core.config import validate
    from augury.core.secrets import redacted
    from augury.core.store import Store
    from augury.experiments.recording import Tracking, place
    from augury.tracking.sync import SYNC, sync_storage

    store = Store(arguments.storage)
    if not any(store.addresses(kind) for kind in SYNC):
        raise UserError(
            f"no run, sweep or experiment in {store.root}: give the storage of `augury train` or "
            "`augury sweep` (their setting storage, by default results)"
        )
    tracking = validate(Tracking, {"uri": arguments.uri}, "--uri")
    updated, target = sync_storage(store, tracking), redacted(place(tracking, store).uri)
    if arguments.json:
        print_json({"sent": updated, "uri": target})
    else:
        sent = f"sent {counted(updated, 'run')}"
        runs = sent if updated else "every run is up to date: nothing to send"
        print(f"{runs}; MLflow experiment '{tracking.experiment}' at {target}")
    return 0
