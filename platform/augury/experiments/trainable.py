"""The contract of a trainable, and finding one: `nmt` is the package `trainables.nmt`, `./mine/` a directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from augury.core.plugins import Kind
from augury.experiments.recording import Recording, unrecorded

if TYPE_CHECKING:
    import numpy as np
    import torch

    from augury.core.execution import ExecutorName
    from augury.core.store import Folder, Store
    from augury.corpora.corpus import Corpus
    from augury.decoding.settings import Sampler
    from augury.experiments.cost import Size
    from augury.experiments.experiment import Experiment
    from augury.training.loop import Report


class Input(NamedTuple):
    """A corpus that a run reads: its role, address and number of records."""

    role: str
    address: str
    rows: int


class Prepared(NamedTuple):
    """Everything that a run reads, made and addressed.

    `address` names the run: it is the hash of the inputs and of the configuration of training, the seed left out.
    `data_factor` is the number of texts that training reads over the number of records: |K| + 1 with K ciphers;
    `passes_by_view` says how often a pass reads a view of a record on average, and `pieces` how many subwords a record
    has, by side; `artifacts` are folders (by their names in the store) to keep with the run's record; `config` is what
    `train_loop` starts from.
    """

    address: str
    inputs: tuple[Input, ...]
    data_factor: float
    passes_by_view: Mapping[str, float]
    pieces: Mapping[str, float]
    artifacts: Mapping[str, str]
    config: dict[str, Any]


class Exported(NamedTuple):
    """What a model card says of an exported model beyond what its run says."""

    library: str
    """The library that reads it, as the hub calls it."""
    pipeline: str
    """What it does, as the hub calls it: translation, text-classification, ..."""
    languages: tuple[str, ...]
    usage: str
    """Python code that uses it, to be run in its directory."""
    notes: tuple[str, ...] = ()
    """What must be known to use it."""
    base_model: str | None = None
    """The pretrained model that training began with."""


class Trainable(Protocol):
    """What a package under `trainables` provides."""

    Config: type[Experiment]
    EXAMPLE: str
    """A shell command that writes a line for `translate`."""

    def check(self, experiment: Any, store: Store) -> None:
        """UserError where the settings and the training text alone tell that an experiment cannot be prepared."""

    def size(self, experiment: Any, store: Store) -> Size | None:
        """The size of the model, from settings and training text; None where a hub would have to be asked."""

    def address(self, experiment: Any, store: Store) -> str:
        """The address of the run that an experiment describes, found without making anything."""

    def prepare(self, experiment: Any, store: Store, recording: Recording = unrecorded) -> Prepared:
        """Make the corpora, views, vocabularies and tokens that are missing; train models that operators lack.

        All later steps read `Prepared.config`; `recording` opens the recorder of what is trained.
        """

    def train_loop(self, config: dict[str, Any], device: torch.device, report: Report) -> None:
        """Train one seed in this process, as far as the validation `until` if that is given.

        `config` is `Prepared.config` with `run`, `seed`, `storage` and perhaps `until`.
        """

    def outputs(self, experiment: Any, run: Folder, store: Store, corpus: Corpus, test: str) -> list[str]:
        """What a finished run makes of every record of the test set called `test`, with the experiment's settings."""

    def translate(
        self, run: Folder, store: Store, texts: Sequence[str], *, executor: ExecutorName = "local", **options: Any
    ) -> list[str]:
        """Return the model's output for each text, in this process unless `executor` says otherwise."""

    def export(self, run: Folder, store: Store, form: str, directory: Path) -> Exported:
        """Write the model in another library's format into a directory that is there, and say how it is used."""


class Generator(Trainable, Protocol):
    """A trainable whose runs write text, for operators."""

    def sampler(self, run: Folder, store: Store) -> Sampler:
        """A finished run as a function, its model loaded once."""


class Classifier(Trainable, Protocol):
    """A trainable whose runs label sentence pairs, for operators."""

    def probabilities(
        self, run: Folder, store: Store, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> np.ndarray:
        """The probability of every label (pairs, labels), in the order of LABELS."""


TASKS = Kind(
    "task",
    package="trainables",
    attribute="EXAMPLE",
    how="is a directory, a package with Config and the functions of augury.experiments.trainable.Trainable",
    whole=True,
)


def find(name: str) -> Trainable:
    """Return the trainable called `name`, or at that path; UserError names the nearest known one."""
    trainable: Trainable = TASKS.find(name)
    return trainable
