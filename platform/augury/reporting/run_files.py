"""Read the files of a run, and write the experiment file that trains it again."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import yaml

from augury.augment.health import Health
from augury.core import yaml_file
from augury.core.store import Folder, Store
from augury.corpora import corpus as corpora
from augury.corpora.corpus import Corpus
from augury.experiments.record import DESCRIPTION, EXPERIMENT, RunRecord, run_folder

ANALYSES = "analyses"
"""The folder, within that of a run, where `augury analyze` writes a folder for every test set."""
PRIVATE = ("storage", "tracking")
"""Sections of an experiment file that describe a machine and not the model."""


def operator_outputs(run: Folder, record: RunRecord) -> list[Health]:
    """Return the measures of what operators made for a run and for the stages before it, these
    first."""
    before = run_folder(Store(run.root), record.before, record.seed) if record.before else None
    if before is None or not before.exists(DESCRIPTION):
        return [*record.health]
    return [*operator_outputs(before, RunRecord.read(before)), *record.health]


def test_corpus(run: Folder, test: str) -> Corpus | None:
    """Return a test set that a run was scored on; None where it no longer exists."""
    address = RunRecord.read(run).addresses.get(test)
    corpus = Corpus(Folder(run.root, f"{corpora.CORPORA}/{address}"))
    return corpus if corpus.folder.complete else None


def experiment(run: Folder, seeds: Iterable[int]) -> dict[str, Any]:
    """Return the settings that train the system of a run again with these seeds."""
    stored = yaml_file.parse(run.read(EXPERIMENT))
    content = {key: value for key, value in stored.items() if key not in PRIVATE}
    systems: dict[str, Any] = {system_name(RunRecord.read(run).name): {}}
    return {**content, "seeds": list(seeds), "baseline": False, "systems": systems}


def system_name(name: str, taken: Container[str] = ()) -> str:
    """Return the name of a configuration, which may have the path of a file, as one that systems
    in experiment files may have, other than those taken."""
    seen = "".join(letter if letter.isprintable() and letter != "/" else "-" for letter in name)
    return f"{seen} 2" if seen in taken else seen


def experiment_yaml(run: Folder, seeds: Iterable[int]) -> str:
    """Return the settings of `experiment` as YAML."""
    return str(yaml.safe_dump(experiment(run, seeds), sort_keys=False, allow_unicode=True))
