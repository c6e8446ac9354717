"""A run: one seed of a prepared experiment, as workers, trials, scoring and reports use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any

from augury.augment.health import Health
from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.corpora.corpus import Corpus
from augury.experiments.spec import Experiment, parse
from augury.runs.record import DESCRIPTION, Input, read_description, run_folder
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
    epochs_by_view: Mapping[str, float]
    """The mean number of times that an epoch reads a view of a record."""
    pieces: Mapping[str, float]
    """The mean number of subwords of a record of the plain corpus, by side."""
    left_out: Mapping[str, int]
    """The number of training examples left out, by reason."""
    health: tuple[Health, ...] = ()
    """The measures of views and records, in their order."""
    references: Mapping[str, str] = field(default_factory=dict)
    """The folders of further references, by test set."""
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
            self.store, next(corpus.address for corpus in self.inputs if corpus.role == role)
        )

    @property
    def tests(self) -> list[str]:
        """The roles of the corpora that the run is scored on."""
        return [
            corpus.role
            for corpus in self.inputs
            if corpus.role not in ("train", "valid", *self.dev_sets)
        ]

    @property
    def dev_sets(self) -> tuple[str, ...]:
        """The roles of the corpora that training is validated on besides `valid`, which decides."""
        return self.experiment.corpus.dev_sets

    @classmethod
    def read(cls, folder: Folder) -> Run:
        """Return the run in a folder; UserError where there is none, or one of another version
        of Augury."""
        if not folder.exists(DESCRIPTION):
            raise UserError(
                f"{folder.uri} is not a run: give the folder of a seed, as `augury train` prints it"
            )
        content = read_description(folder).get("run", {})
        lacking = [
            part.name
            for part in fields(cls)
            if part.name not in (*content, "folder")
            and part.default is MISSING
            and part.default_factory is MISSING
        ]
        if lacking:
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
            "inputs": [text.to_dict() for text in self.inputs],
        }

    @classmethod
    def from_dict(cls, root: str, content: Mapping[str, Any]) -> Run:
        """Return the run of a storage that JSON-like values describe; unknown keys are ignored."""
        values = {part.name: content[part.name] for part in fields(cls) if part.name in content}
        values["experiment"] = parse({**values["experiment"], "storage": root})
        values["health"] = tuple(map(Health.from_dict, values.get("health", ())))
        values["inputs"] = tuple(map(Input.from_dict, values["inputs"]))
        return cls(folder=run_folder(Store(root), values["address"], values["seed"]), **values)

    def __reduce__(self) -> tuple[Any, ...]:
        # Other processes read the experiment anew: its operators may be of files that they have to
        # import first.
        return Run.from_dict, (self.folder.root, self.to_dict())
