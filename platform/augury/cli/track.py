"""`augury track`: send to MLflow what could not be sent while it did not answer."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from augury.cli.common import print_json

HELP = "Bring MLflow in line with the runs of a storage: sends what an unreachable server did not take."
EXAMPLE = "MLFLOW_TRACKING_URI=http://server:5000 augury track results"


def configure(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    parser.add_argument("storage", nargs="?", default="results", help="directory or URI of the runs (default: results)")
    parser.add_argument("--uri", default=None, help="MLflow server or database (default: MLFLOW_TRACKING_URI)")


def run(arguments: argparse.Namespace) -> int:
    from augury.core.store import Store
    from augury.experiments.tracking import Tracking
    from augury.tracking.sync import sync_storage

    sent = sync_storage(Store(arguments.storage), Tracking(uri=arguments.uri))
    if arguments.json:
        print_json({"sent": sent})
    else:
        print(f"sent records of {sent} runs")
    return 0
