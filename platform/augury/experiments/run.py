"""A run: one seed of a prepared experiment, as workers, trials, scoring and reports use it, and
what is written of it when its training begins and when it is scored."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any

import yaml

from augury.augment.health import Health
from augury.core import config, yaml_file
from augury.core.errors import UserError
from augury.core.messages import say
from augury.core.secrets import with_redacted_uris
from augury.core.store import Folder, Store
from augury.corpora.corpus import Corpus
from augury.experiments.record import (
    DESCRIPTION,
    EXPERIMENT,
    Input,
    RunRecord,
    read_description,
    run_folder,
)
from augury.experiments.spec import Experiment, parse
from augury.training.trained import Initialisation, TrainingRun


def portable(experiment: Experiment) -> dict[str, Any]:
    """Return the settings of an experiment without its storage, which its runs are moved with."""
    return {key: value for key, value in experiment.to_dict().items() if key != "storage"}


@dataclass(frozen=True, kw_only=True)
class Run(TrainingRun):
    """One seed of an experiment, with the addresses of everything that it reads.

    `address` is the hash of the inputs and of the configuration of training, without the seed.
    Folders are given by their names in the store.
    """

    experiment: Experiment
    inputs: tuple[Input, ...]
    """The corpora of all splits."""
    tokenizer: str
    tokens: Mapping[str, str]
    """Tokenised texts: sides of the corpus, views, records, and sides of the validation set."""
    views: Mapping[str, str]
    records: Mapping[str, str]
    fits: Mapping[str, str]
    """The fitted data of operators, by the name of the view or records."""
    data_factor: float
    """Texts that training reads per record: |K| + 1 with keys K."""
    health: tuple[Health, ...] = ()
    """The measures of views and records, in their order."""
    before: str | None = None
    """The address of the stage before this one; None for a first stage."""

    @property
    def init_from(self) -> Initialisation | None:
        """The run of the stage before with the same seed; None for a first stage."""
        if self.before is None:
            return None
        assert self.experiment.stage is not None
        return Initialisation(
            run_folder(self.store, self.before, self.seed), self.experiment.stage.carry
        )

    @property
    def store(self) -> Store:
        """The storage that the run lies in."""
        return Store(self.folder.root)

    def with_seed(self, seed: int) -> Run:
        """Return the same run with another seed."""
        return replace(self, seed=seed, folder=run_folder(self.store, self.address, seed))

    def stored_folder(self, name: str) -> Folder:
        """Return a folder of the run's storage by its name."""
        return Folder(self.folder.root, name)

    def corpus(self, role: str) -> Corpus:
        """Return one of the corpora that the run reads."""
        return Corpus.load(
            self.store, next(corpus.address for corpus in self.inputs if corpus.name == role)
        )

    @property
    def tests(self) -> list[str]:
        """The roles of the corpora that the run is scored on."""
        others = ("train", "valid", *self.experiment.corpus.dev_sets)
        return [corpus.name for corpus in self.inputs if corpus.name not in others]

    @classmethod
    def read(cls, folder: Folder) -> Run:
        """Return the run in a folder; UserError where there is none, or one of another version
        of Augury."""
        if not folder.exists(DESCRIPTION):
            raise UserError(
                f"{folder.uri} is not a run: give the folder of a seed, as `augury train` prints it"
            )
        content = read_description(folder).get("run", {})
        needed = {part.name for part in fields(cls) if part.default is MISSING} - {"folder"}
        if lacking := sorted(needed - content.keys()):
            parts = f" (it has no {', '.join(lacking)})" if content else ""
            raise UserError(
                f"{folder.uri} was made by another version of Augury{parts}: its scores can be "
                "compared, but its model cannot be used; train it again with `augury train`"
            )
        return cls.from_dict(folder.root, content)

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON-like values; `from_dict` reads them."""
        values = {
            part.name: getattr(self, part.name) for part in fields(self) if part.name != "folder"
        }
        return values | {
            "experiment": portable(self.experiment),
            "health": [output.to_dict() for output in self.health],
            "inputs": [asdict(text) for text in self.inputs],
        }

    @classmethod
    def from_dict(cls, root: str, content: Mapping[str, Any]) -> Run:
        """Return the run of a storage that JSON-like values describe; unknown keys are ignored."""
        values = {part.name: content[part.name] for part in fields(cls) if part.name in content}
        values["experiment"] = parse({**values["experiment"], "storage": root})
        values["health"] = tuple(Health(**output) for output in values.get("health", ()))
        values["inputs"] = tuple(Input(**text) for text in values["inputs"])
        return cls(folder=run_folder(Store(root), values["address"], values["seed"]), **values)

    def __reduce__(self) -> tuple[Any, ...]:
        # Other processes read the experiment anew: its operators may be of files that they have to
        # import first.
        return Run.from_dict, (self.folder.root, self.to_dict())


PACKAGES = (
    "augury",
    "torch",
    "ray",
    "transformers",
    "sentencepiece",
    "sacrebleu",
    "ctranslate2",
    "mlflow",
    "pyarrow",
)
EVALUATION = ("corpus.tests", "decoding", "scoring")
"""The settings of an experiment that concern a trained model."""


def describe(run: Run, name: str, differing: Sequence[str] = ()) -> None:
    """Write the description of a run: its experiment, inputs, parameters, versions and commit.

    `differing` are the parameters in which the systems of its experiment differ.
    """
    run.folder.write(EXPERIMENT, _yaml(portable(run.experiment)))
    record = RunRecord(
        name=name,
        experiment=run.experiment.name,
        address=run.address,
        seed=run.seed,
        task=run.experiment.task,
        inputs=run.inputs,
        parameters=_parameters(run.experiment),
        differing=tuple(differing),
        versions={package: _version(package) for package in PACKAGES},
        commit=commit(),
    )
    record.write_description(run.folder, run.to_dict())


def differing_parameters(systems: Iterable[Experiment]) -> list[str]:
    """Return the dotted keys in which the systems of an experiment differ.

    Of the settings of an operator or a regime that only some systems have, those at their defaults
    are left out.
    """
    known = list(systems)
    parameters = [_parameters(system) for system in known]
    keys = dict.fromkeys(key for of_system in parameters for key in of_system)
    chosen = {key for key in keys if key.endswith((".name", ".operator"))}
    for system in known:
        chosen |= {*config.flatten(system.model_dump(mode="json", exclude_defaults=True))}
    differing = []
    for key in keys:
        values = [of_system.get(key) for of_system in parameters]
        everywhere = all(key in of_system for of_system in parameters)
        if (everywhere or key in chosen) and any(value != values[0] for value in values):
            differing.append(key)
    return differing


def describe_scores(run: Run) -> RunRecord:
    """Update test sets and scoring in the description of a run, which may change after training;
    test sets that other experiments have asked for stay."""
    described, record = read_description(run.folder)["run"], RunRecord.read(run.folder)
    names = {text.name: text.address for text in run.inputs}
    for text in record.inputs:
        if text.name in record.tests and names.get(text.name, text.address) != text.address:
            say(
                f"warning: {run.folder.uri} has scores on another text called '{text.name}', which "
                "are replaced: to keep both, give it another name"
            )
    inputs = (*run.inputs, *(text for text in record.inputs if text.name not in names))
    written, now = yaml_file.parse(run.folder.read(EXPERIMENT)), portable(run.experiment)
    written |= {section: now[section] for section in ("decoding", "scoring") if section in now}
    written["corpus"]["tests"] |= now["corpus"]["tests"]
    run.folder.write(EXPERIMENT, _yaml(written))
    known, own = record.parameters, _parameters(run.experiment)
    trained = {key: known[key] for key in known if not key.startswith(EVALUATION)}
    scored = {key: own[key] for key in own if key.startswith(EVALUATION)}
    record = replace(record, inputs=inputs, parameters=trained | scored)
    changed = {"inputs": [asdict(text) for text in inputs], "experiment": written}
    record.write_description(run.folder, described | changed)
    return record


def _yaml(content: dict[str, Any]) -> str:
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    return with_redacted_uris(text)


def _parameters(experiment: Experiment) -> dict[str, Any]:
    others: Any = {"storage": True, "systems": True, "stages": True, "stage": {"after"}}
    return config.flatten(experiment.model_dump(mode="json", exclude=others))


def _version(package: str) -> str:
    import importlib.metadata

    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


@functools.cache
def commit() -> str | None:
    """Return the commit of the working directory's repository at the first call, with `+` for
    uncommitted changes.

    To be called when a command starts: later the directory may have changed, or be gone.
    """
    asked = ["git", "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*"]
    try:
        described = subprocess.run(asked, capture_output=True, text=True, check=False)
    except OSError:  # no git, or no directory any more
        return None
    return described.stdout.strip() or None
