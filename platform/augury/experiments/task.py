"""The contract of a task, and its lookup: `nmt` is the package `trainables.nmt`, `./my.py` a path.

What only some tasks can do with finished runs is a protocol each, such as `Translates`.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

from augury.core.errors import UserError
from augury.experiments.spec import TASKS, invalid_task

if TYPE_CHECKING:
    import numpy as np

    from augury.core.execution import ExecutorName
    from augury.core.store import Folder, Store
    from augury.corpora.corpus import Corpus
    from augury.decoding.settings import Decoding, Sampler, Translator
    from augury.experiments.run import Run
    from augury.experiments.spec import Experiment
    from augury.models.sizes import Size
    from augury.text.tokens import Text, Tokenizer
    from augury.training.learner import Learner


class Task(ABC):
    """What is a task's own: its experiments, tokenizer, learner and outputs.

    Corpora, views, tokens, addresses, training, checkpoints, scores and records are the platform's.
    An experiment that is passed in is an instance of `EXPERIMENT`. Modules that load torch are
    imported where they are used, so that reading an experiment file stays quick.
    """

    EXPERIMENT: ClassVar[type[Experiment]]
    """The settings of its experiment files."""
    SIDES: ClassVar[Mapping[str, tuple[str, ...]]]
    """The texts of a record and the columns that hold them; views are made from the first."""
    EXAMPLE: ClassVar[str]
    """A shell command that writes a line for `augury translate`."""
    VERSION: ClassVar[int] = 1
    """Raised when the same configuration trains another model; part of every run's address."""
    ROWS_PER_SECOND: ClassVar[int] = 20_000
    """Rows that one core tokenises in a second."""

    @abstractmethod
    def tokenizer(self, experiment: Any, texts: Mapping[str, Text], store: Store) -> Tokenizer:
        """Return the tokenizer of training texts (sides and views, by name), made or not."""

    @abstractmethod
    def make_tokenizer(self, experiment: Any, texts: Mapping[str, Text], folder: Folder) -> None:
        """Write the tokenizer into its folder and finish that."""

    @abstractmethod
    def address_settings(self, experiment: Any) -> dict[str, Any]:
        """Return the task's own settings that determine the model, for its address."""

    @abstractmethod
    def learner(self, run: Run) -> Learner:
        """Return the untrained model of a run, with its examples and its validation set."""

    @abstractmethod
    def outputs(self, run: Run, corpus: Corpus, test: str) -> list[str]:
        """Return the output of a finished run for every record of the test set called `test`."""

    @abstractmethod
    def translate(
        self, run: Run, texts: Sequence[str], *, executor: ExecutorName = "local", **options: Any
    ) -> list[str]:
        """Return the output of a finished run for each text, by default in this process."""

    def sides(self, experiment: Any) -> Mapping[str, tuple[str, ...]]:
        """Return the texts of a record and their columns, if they depend on the kind of corpus."""
        return self.SIDES

    def corpus_address(self, experiment: Any, split: str) -> str:
        """Return the address of the corpus of a split, without making it."""
        from augury.corpora.ingest import cached_address

        return cached_address(experiment.corpus, split)

    def corpus(self, experiment: Any, split: str, store: Store) -> Corpus:
        """Return the corpus of a split, made unless the store has it."""
        from augury.corpora.ingest import cached_corpus

        return cached_corpus(experiment.corpus, split, store.root)

    def size(self, experiment: Any, store: Store) -> Size | None:
        """Estimate the size of a model from nothing; None where it is not known."""
        return None

    def check(self, experiment: Any, store: Store) -> None:
        """Raise UserError for settings and training text that cannot be prepared."""
        return None

    def check_model(self, experiment: Any, store: Store) -> None:
        """Raise UserError for a model that cannot be trained, before anything is made."""
        return None

    def check_held_out(
        self, experiment: Any, tokenizer: Folder, corpora: Mapping[str, Corpus]
    ) -> None:
        """Raise UserError for validation or test text that the model cannot read, as its made
        tokenizer says."""
        return None


def find_task(name: str) -> Task:
    """Return the task called `name`, or at that path; UserError names the nearest known one."""
    task = TASKS.find(name)
    if not isinstance(task, Task):
        raise invalid_task(name)
    return task


C = TypeVar("C")
"""A protocol of those below, which only some tasks have. The first sentence of its documentation is
part of a message: that a task is not "a task whose runs translate text" (`capable`)."""


@runtime_checkable
class Translates(Protocol):
    """A task whose runs translate text."""

    def translator(self, run: Run, threads: int) -> Translator:
        """Return a run as a function that translates text, its model loaded once."""


@runtime_checkable
class Samples(Protocol):
    """A task whose runs draw text from their distribution."""

    def sampler(self, run: Run) -> Sampler:
        """Return a run as a function that draws text, its model loaded once."""


@runtime_checkable
class Labels(Protocol):
    """A task whose runs give labels."""

    def labels(self, experiment: Any) -> tuple[str, ...]:
        """Return the labels, in the order of the probabilities."""

    def probabilities(self, run: Run, *columns: Sequence[str]) -> np.ndarray:
        """Return the probability of every label, (rows, labels), given columns of sentences."""


class ReadsIds(Protocol):
    """A finished run that translates ids of pieces, and shows the states of its encoder."""

    @property
    def pieces(self) -> Sequence[str]:
        """The piece of every id, special symbols among them."""

    def encode(
        self, texts: Sequence[str], view: str = "source", *, tagged: bool = True
    ) -> list[list[int]]:
        """Return clean texts, rendered as a view, as ids without the end of sentence.

        A model that reads tags has its tag first, unless `tagged` is false.
        """

    def translate_ids(
        self,
        sources: Sequence[Sequence[int]],
        decoding: Decoding | None = None,
        executor: ExecutorName = "local",
        label: str = "translate",
        tag: str | None = None,
    ) -> list[str]:
        """Return the outputs for sources in untagged ids, read after the `tag` if given.

        `label` is that of the progress line.
        """

    def encoder_states(
        self, sources: Sequence[Sequence[int]], tag: str | None = None
    ) -> list[np.ndarray]:
        """Return the mean encoder state of sources, (sources, hidden) per layer from embeddings on.

        Sources are untagged ids, not empty; tags and end of sentence are read, but not averaged.
        """


@runtime_checkable
class ShowsStates(Protocol):
    """A task whose runs show the ids that they read and the states of their encoder."""

    def trained(self, run: Run) -> ReadsIds:
        """Return a finished run, its model loaded where it is needed."""


class Exported(NamedTuple):
    """The facts of an exported model that its card needs besides those of the run."""

    library: str
    """The library that reads it, as the hub calls it."""
    pipeline: str
    """The pipeline of the hub that runs it: translation, text-classification, ..."""
    languages: tuple[str, ...]
    usage: str
    """Python code that reads the lines of its input, as `augury translate` does, to be run in its
    directory."""
    notes: tuple[str, ...] = ()
    """Notes for its users."""
    base_model: str | None = None
    """The pretrained model that training began with."""


@runtime_checkable
class Exports(Protocol):
    """A task whose runs can be written for other libraries."""

    def export(self, run: Run, form: str, directory: Path) -> Exported:
        """Write the model in another library's format into an existing directory."""


class Draft(NamedTuple):
    """What a task says in a first experiment on somebody's texts, in YAML."""

    question: str
    """What the experiment answers."""
    name: str
    """Of the system that is compared with the baseline."""
    system: str
    """The sections from `augment` to `model`, with comments."""
    training: str
    """The settings of training, `key: value, key: value`."""
    baseline: str
    """The settings in which the baseline differs from the system."""
    other: str
    """Those of one more system, as an example."""
    corpus: str = ""
    """Further settings of the corpus, for a comment."""


@runtime_checkable
class Drafts(Protocol):
    """A task that `augury init` writes experiment files of."""

    def draft(self, rows: int, model: str | None, languages: Sequence[str]) -> Draft:
        """Return a first experiment for a training text of so many rows, in these languages.

        `model` is the directory or hub name of a pretrained model, the name of an architecture that
        starts from nothing, such as `tiny`, or None for the task's choice.
        """


def capable(name: str, capability: type[C]) -> C:
    """Return the task called `name`, or at that path; UserError unless it has the capability."""
    task = find_task(name)
    if isinstance(task, capability):
        return task
    able = [known for known in TASKS.names() if isinstance(find_task(known), capability)]
    what = inspect.getdoc(capability) or ""
    raise UserError(
        f"'{name}' is not {what[:1].lower()}{what[1:].partition('.')[0]}: take {' or '.join(able)}"
    )
