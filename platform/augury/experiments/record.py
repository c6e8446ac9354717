"""The record of a run: what it was trained on and with, its scores, and what it has cost.

A run's folder holds two files of it: `run.json`, written when training begins, and `scores.json`,
written when the run is scored. Everything that reads stored runs reads a `RunRecord`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from augury.augment.health import Health
from augury.core.config import typed
from augury.core.integrity import Damaged
from augury.core.store import MANIFEST, Folder, Store
from augury.scoring.stored import HYPOTHESES, SCORES, STATISTICS, Score
from augury.training.trained import OUTCOME, Outcome

RUNS, REPORTS = "runs", "reports"
"""Kinds of folders: of runs, and of the reports of experiments, by their names."""
DESCRIPTION, EXPERIMENT = "run.json", "experiment.yaml"
RECORDS = (MANIFEST, DESCRIPTION, OUTCOME, SCORES)
"""The JSON files that have checksums in every storage of this version."""

NOT_DESCRIBED = ("before", "health", "evaluations", "tests", "training", "cost")
"""The fields of a record that are the run's own, or not known before it is scored."""

Number = int | float
DEVICES = ", "
"""Between the devices of the seeds of a system."""


@dataclass(frozen=True)
class Input:
    """A corpus that a run reads: its role, such as `train`, address and number of records."""

    name: str
    address: str
    rows: int


def run_folder(store: Store, address: str, seed: int) -> Folder:
    """Return the folder of the run of a configuration with a seed."""
    return store.folder(RUNS, f"{address}/seed-{seed}")


@dataclass(frozen=True)
class Cost:
    """The cost of one seed, or its mean over seeds: numbers of the last training, and sums over
    all trainings behind it."""

    parameters: Number
    data_factor: float
    """Texts that training reads, views and synthetic ones included, per record: |K| + 1 with keys
    K."""
    updates: Number
    onset: float
    """The number of updates after which the regime's loss acts in full."""
    weights: tuple[str, ...]
    """The weights that each seed is reported with: averaged, last or best."""
    target_tokens: Number
    """Target tokens seen in training, with earlier stages and the models of operators."""
    train_seconds: float
    """The time of the same trainings and, where it was recorded, of generating text with those
    models."""
    device_hours: float
    """Device hours of the same."""
    device: str
    cpu_seconds: float | None = None
    """Processor time of the same, over all threads; None where it was not measured."""
    trainings: Number = 1
    """The number of trainings in these sums."""
    uncounted: tuple[str, ...] = ()
    """Models behind the system that were trained elsewhere."""

    @classmethod
    def of(cls, run: Folder, training: Outcome, *, data_factor: float) -> Cost:
        """Return the cost of a run that `training` ended, with that of everything behind it."""
        outcomes, seconds_of_texts, elsewhere = behind(run)
        generation = sum(seconds_of_texts.values())
        others = [outcome for name, outcome in outcomes.items() if name != run.name]
        trainings = [training, *others]
        processor = [outcome.cpu_seconds for outcome in trainings]
        known = [seconds for seconds in processor if seconds is not None]
        return cls(
            parameters=training.parameters,
            data_factor=data_factor,
            updates=training.updates,
            onset=training.onset,
            weights=(training.weights.kind,),
            target_tokens=sum(outcome.rows for outcome in trainings),
            train_seconds=generation + sum(outcome.train_seconds for outcome in trainings),
            device_hours=generation / 3600 + sum(outcome.device_hours for outcome in trainings),
            device=training.device,
            cpu_seconds=generation + sum(known) if len(known) == len(processor) else None,
            trainings=len(trainings),
            uncounted=tuple(elsewhere),
        )

    @classmethod
    def mean(cls, costs: Sequence[Cost]) -> Cost:
        """Return the mean over seeds, at least one; what is not known of one of them is not."""
        from statistics import fmean

        def mean(values: Sequence[Any]) -> Any:
            return None if None in values else fmean(values)

        joined: dict[str, Any] = {
            "weights": tuple(kind for cost in costs for kind in cost.weights),
            "device": DEVICES.join(_distinct(cost.device for cost in costs)),
            "uncounted": _distinct(name for cost in costs for name in cost.uncounted),
        }
        numbers = [part.name for part in fields(cls) if part.name not in joined]
        means = {name: mean([getattr(cost, name) for cost in costs]) for name in numbers}
        return cls(**means, **joined)


def behind(run: Folder) -> tuple[dict[str, Outcome], dict[str, float], list[str]]:
    """Return everything that a run was made from, by name in the store, each once: the outcomes of
    trainings, its own too where it has one; the seconds, for one process, in which models generated
    text; and models that were trained elsewhere."""
    outcomes: dict[str, Outcome] = {}
    seconds: dict[str, float] = {}
    elsewhere: dict[str, None] = {}
    waiting = [run.name] if run.exists(OUTCOME) else []
    while waiting:
        name = waiting.pop(0)
        folder = Folder(run.root, name)
        if name in outcomes:
            continue
        if not (name.startswith(f"{RUNS}/") and folder.exists(OUTCOME)):
            elsewhere[name] = None
            continue
        outcomes[name] = Outcome.read(folder)
        facts = read_description(folder)
        described = facts.get("run", {})
        if before := described.get("before"):
            waiting.append(run_folder(Store(run.root), before, facts["seed"]).name)
        made = [*described.get("views", {}).values(), *described.get("records", {}).values()]
        for text in (Folder(run.root, name) for name in made):
            if text.complete:
                manifest = text.manifest()
                waiting += manifest.get("side_data", {}).get("models", {}).values()
                for source in (Folder(run.root, name) for name in manifest.get("made_from", ())):
                    if source.complete:
                        seconds[source.name] = source.manifest().get("seconds", 0.0)
    return outcomes, seconds, list(elsewhere)


def read_description(run: Folder) -> dict[str, Any]:
    """Return what the file says that was written when training began; Damaged where it is."""
    try:
        return run.read_record(DESCRIPTION)
    except Damaged as error:
        raise Damaged(f"{error}; remove {run.uri} and train it again") from error


@dataclass(frozen=True)
class RunName:
    """What a run is called, for what needs no more of its record."""

    name: str
    """The system's, in the experiment that first trained it."""
    seed: int
    experiment: str | None = None
    """The name of that experiment."""

    @classmethod
    def read(cls, run: Folder) -> RunName:
        """Return the name of a run that training has described; UserError as of `RunRecord`."""
        content = read_description(run)
        return typed(cls, content, run.uri)

    def __str__(self) -> str:
        return f"{self.experiment}/{self.name}/{self.seed}"


@dataclass(frozen=True)
class RunRecord:
    """What a run was trained on and with; once it is scored, its scores and cost too."""

    name: str
    """The system's, in the experiment that first trained it."""
    address: str
    seed: int
    task: str | None
    experiment: str | None = None
    """The name of that experiment."""
    inputs: tuple[Input, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The settings, by dotted keys."""
    differing: tuple[str, ...] = ()
    """The parameters in which the systems of its experiment differ."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Package -> the version that trained the run."""
    commit: str | None = None
    before: str | None = None
    """The address of the stage before; None for a first stage."""
    health: tuple[Health, ...] = ()
    """The measures of views and records, in their order."""
    evaluations: Mapping[str, str] = field(default_factory=dict)
    """Test set -> the hash of everything that determines the outputs of the trained model on it."""
    tests: Mapping[str, tuple[Score, ...]] = field(default_factory=dict)
    """Test set -> scores; empty before the run is scored."""
    training: Outcome | None = None
    """The outcome of the last training alone; None before the run is scored."""
    cost: Cost | None = None
    """The cost of all trainings; None before the run is scored."""

    @classmethod
    def read(cls, run: Folder) -> RunRecord:
        """Return the record of a run that training has described.

        UserError for a damaged file, or one of another version of Augury.
        """
        content: dict[str, Any] = read_description(run)
        described = content.get("run", {})
        content["before"] = described.get("before")
        content["health"] = described.get("health", ())
        if run.exists(SCORES):
            try:
                content |= run.read_record(SCORES)
            except Damaged as error:
                raise Damaged(f"{error}; `augury train` scores it anew") from error
        return typed(cls, content, run.uri)

    def write_description(self, run: Folder, settings: Mapping[str, Any]) -> None:
        """Write what is known when training begins; `settings` are those of the run itself."""
        known = [part.name for part in fields(self) if part.name not in NOT_DESCRIBED]
        content = {name: getattr(self, name) for name in known}
        content["inputs"] = [asdict(text) for text in self.inputs]
        content["run"] = dict(settings)
        run.write_record(DESCRIPTION, content)

    def write_scores(self, run: Folder) -> None:
        """Write what is known when the run is scored."""
        tests = {}
        for test, scores in self.tests.items():
            tests[test] = [score.to_dict() for score in scores]
        content = {
            "evaluations": dict(self.evaluations),
            "tests": tests,
            "cost": self.cost and asdict(self.cost),
            "training": self.training and asdict(self.training),
        }
        files = [
            f"{kind}/{name}"
            for kind in (STATISTICS, HYPOTHESES)
            for name in run.sub(kind).names()
            if name.rpartition(".")[0] in self.tests
        ]
        run.write_record(SCORES, content, files)

    @property
    def is_scored(self) -> bool:
        """Whether the run is scored; one without test sets has its cost alone."""
        return bool(self.tests) or self.cost is not None

    @property
    def addresses(self) -> dict[str, str]:
        """Role of an input -> the address of its corpus."""
        return {corpus.name: corpus.address for corpus in self.inputs}

    @property
    def packages(self) -> str:
        """The versions of packages that trained the run, in a line."""
        return ", ".join(f"{package} {version}" for package, version in self.versions.items())

    @property
    def hardware(self) -> str | None:
        """What trained the run, as far as it decides rounding; None where that is not known.

        A precision in which the systems of an experiment differ on purpose is a setting, and no
        hardware.
        """
        if self.training is None:
            return None
        on_cpu = self.training.device == "cpu"
        device = self.training.processor if on_cpu else self.training.device
        if not device:
            return None
        precision = self.parameters.get("training.precision")
        deliberate = precision is None or "training.precision" in self.differing
        return device if deliberate else f"{device}, {precision}"


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
