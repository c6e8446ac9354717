"""`augury track`: sync a storage to MLflow."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from augury.cli.common import print_json

HELP = "Sync the runs of a storage to MLflow, for example after an outage of the server."
EXAMPLE = "MLFLOW_TRACKING_URI=http://server:5000 augury track results"


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    parser.add_argument("storage", nargs="?", default="results", help="directory or URI of the runs (default: results)")
    parser.add_argument("--uri", default=None, help="MLflow server or database (default: MLFLOW_TRACKING_URI)")


def run(arguments: argparse.Namespace) -> int:
    from augury.core.store import Store
    from augury.experiments.tracking import Tracking
    from augury.tracking.sync import sync_storage

    updated = sync_storage(Store(arguments.storage), Tracking(uri=arguments.uri))
    if arguments.json:
        print_json({"sent": updated})
    else:
        print(f"synced {updated} runs")
    return 0
