"""`augury track`: export a storage to MLflow."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from augury.cli.common import RESULTS, print_json
from augury.core.config import validate
from augury.core.errors import UserError
from augury.core.naming import counted
from augury.core.store import Store
from augury.experiments import stored_runs
from augury.experiments.record import RUNS, RunRecord
from augury.experiments.recording import Tracking
from augury.sweeping.state import SWEEPS

EXAMPLE = "MLFLOW_TRACKING_URI=http://server:5000 augury track results"


def configure(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    add = parser.add_argument
    text = f"directory or URI of the runs (default: {RESULTS})"
    add("storage", nargs="?", default=RESULTS, help=text)
    text = "MLflow server or database (default: MLFLOW_TRACKING_URI, or the runs' own)"
    add("--uri", help=text)


def run(arguments: argparse.Namespace) -> int:
    from augury.tracking.export import Exporter

    store = Store(arguments.storage)
    if not any(store.addresses(kind) for kind in (RUNS, SWEEPS)):
        raise UserError(
            f"no run or sweep in {store.root}: give the storage of `augury train` or "
            "`augury sweep` (their setting storage, by default results)"
        )
    settings = {"uri": arguments.uri or os.environ.get("MLFLOW_TRACKING_URI")}
    if not settings["uri"]:
        for run in stored_runs.intact(stored_runs.folders(store), RunRecord.read).values():
            if run.parameters.get("tracking.uri"):  # as its experiment file says
                settings = {key: run.parameters[f"tracking.{key}"] for key in ("uri", "experiment")}
                break
    exporter = Exporter(validate(Tracking, settings, "--uri"), store)
    sent = exporter.storage()
    if arguments.json:
        print_json({"sent": sent, "uri": exporter.address})
    else:
        done = f"sent {counted(sent, 'run')}" if sent else "MLflow has every run: nothing to send"
        print(f"{done}; MLflow experiment '{exporter.mlflow.name}' at {exporter.address}")
    return 0
