"""The contract of a task, and its lookup: `nmt` is the package `trainables.nmt`, `./mine/` a path."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from augury.core.errors import UserError
from augury.corpora.ingest import cached_address, cached_corpus
from augury.experiments.spec import TASKS

if TYPE_CHECKING:
    import numpy as np

    from augury.core.execution import ExecutorName
    from augury.core.store import Folder, Store
    from augury.corpora.corpus import Corpus
    from augury.decoding.settings import Decoding, Sampler, Translator
    from augury.experiments.run import Run
    from augury.experiments.sizes import Size
    from augury.experiments.spec import Experiment
    from augury.text.tokens import Text, Tokenizer
    from augury.training.learner import Learner


class Exported(NamedTuple):
    """The facts of an exported model that its model card needs besides those of the run."""

    library: str
    """The library that reads it, as the hub calls it."""
    pipeline: str
    """The pipeline of the hub that runs it: translation, text-classification, ..."""
    languages: tuple[str, ...]
    usage: str
    """Python code that uses it, to be run in its directory."""
    notes: tuple[str, ...] = ()
    """Notes for its users."""
    base_model: str | None = None
    """The pretrained model that training began with."""


class Task(ABC):
    """The parts of a task that are its own: settings, tokenizer, model, batches and outputs.

    Corpora, views, tokens, addresses, training, checkpoints, scores and records are the platform's.
    An experiment that is passed in is an instance of `EXPERIMENT`. Modules that load torch are
    imported where they are used, so that reading an experiment file stays quick.
    """

    EXPERIMENT: ClassVar[type[Experiment]]
    """The settings of its experiment files."""
    EXAMPLE: ClassVar[str]
    """A shell command that writes a line for `augury translate`."""
    VERSION: ClassVar[int] = 1
    """Raised when the same configuration trains another model than before.

    Part of every run's address.
    """
    SIDES: ClassVar[Mapping[str, tuple[str, ...]]]
    """The texts of a record -> the columns that they are read from.

    Views are made from the first.
    """
    ROWS_PER_SECOND: ClassVar[int] = 20_000
    """Rows that one core tokenises in a second."""

    def corpus_address(self, experiment: Any, split: str) -> str:
        """Return the address of the corpus of a split, without making it."""
        return cached_address(experiment.corpus, split)

    def corpus(self, experiment: Any, split: str, store: Store) -> Corpus:
        """Return the corpus of a split, made unless the store has it."""
        return cached_corpus(experiment.corpus, split, store.root)

    def check(self, experiment: Any, store: Store) -> None:
        """Raise UserError where an experiment cannot be prepared, as far as settings and
        training text tell."""
        return None

    def cautions(self, experiment: Any) -> list[str]:
        """Return warnings on things that stop an experiment on this machine, though it may run
        on another."""
        return []

    def check_model(self, experiment: Any, store: Store) -> None:
        """Raise UserError where the model cannot be trained; called before anything is made."""
        return None

    def check_held_out(
        self, experiment: Any, tokenizer: Folder | None, corpora: Mapping[str, Corpus]
    ) -> list[str]:
        """Raise UserError where validation or test text does not suit the model.

        Called before training.

        Before the tokenizer is learned (None), text that may not suit the model is told of in the
        warnings returned.
        """
        return []

    def max_pieces(self, experiment: Any) -> int | None:
        """Return the maximum number of pieces of a training example; None: longer ones are not
        left out."""
        return None

    def size(self, experiment: Any, store: Store) -> Size | None:
        """Return the size of the model, from settings and training text; None where only a hub
        knows it."""
        return None

    @abstractmethod
    def tokenizer(self, experiment: Any, texts: Mapping[str, Text], store: Store) -> Tokenizer:
        """Return the tokenizer that is learned from training texts (sides and views, by name),
        learned or not."""

    @abstractmethod
    def make_tokenizer(self, experiment: Any, texts: Mapping[str, Text], folder: Folder) -> None:
        """Write the tokenizer into its folder and finish that."""

    @abstractmethod
    def address_settings(self, experiment: Any) -> dict[str, Any]:
        """Return the task's own settings that determine the trained model.

        They are part of its address.
        """

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
        """Return the model's output for each text, in this process unless `executor` says
        otherwise."""

    def encode(
        self, run: Run, texts: Sequence[str], view: str = "source", *, tagged: bool = True
    ) -> list[list[int]]:
        """Return clean texts as ids, without the end of sentence: rendered as a view, in the pieces
        of that view.

        Where the run's model reads tags, the tag is included unless `tagged` is false.
        """
        raise UserError(
            f"texts as views of a run of task {run.experiment.task} are not supported: take one of "
            "nmt"
        )

    def pieces(self, run: Run) -> Sequence[str]:
        """Return the strings of a run's ids, special symbols among them."""
        raise UserError(f"runs of task {run.experiment.task} cannot be analysed: take one of nmt")

    def translate_ids(
        self,
        run: Run,
        sources: Sequence[Sequence[int]],
        *,
        executor: ExecutorName = "local",
        decoding: Decoding | None = None,
        label: str = "translate",
        domain: str | None = None,
    ) -> list[str]:
        """Return the outputs for sources in the untagged ids of `encode`, read after the tag
        `domain` if given.

        `label` is that of the progress line.
        """
        raise UserError(f"runs of task {run.experiment.task} cannot be analysed: take one of nmt")

    def encoder_states(
        self, run: Run, sources: Sequence[Sequence[int]], domain: str | None = None
    ) -> list[np.ndarray]:
        """Return the mean encoder state of every source, (sources, hidden) for every layer from the
        embeddings on.

        Sources are untagged ids of `encode`, not empty; tags (`domain` among them, if given) and
        end of sentence are read but left out of the mean.
        """
        raise UserError(f"runs of task {run.experiment.task} cannot be analysed: take one of nmt")

    def export(self, run: Run, form: str, directory: Path) -> Exported:
        """Write the model in another library's format into an existing directory.

        Return the facts for its card.
        """
        raise UserError(f"runs of task {run.experiment.task} cannot be exported")

    def sampler(self, run: Run, whole: bool = False) -> Sampler:
        """Return a finished run as a function that writes text, its model loaded once.

        A text that is too long for the model may be cut unless it is to be read `whole`, and then
        has no output.
        """
        raise UserError(
            f"a run of task {run.experiment.task} writes no text: take one of task nmt or seq2seq"
        )

    def translator(self, run: Run, threads: int) -> Translator:
        """Return a finished run as a function that translates text, its model loaded once."""
        raise UserError(
            f"a run of task {run.experiment.task} translates nothing: take one of task nmt"
        )

    def probabilities(self, run: Run, *columns: Sequence[str]) -> np.ndarray:
        """Return the probability of every label (rows, labels), given the columns of the task's
        side."""
        raise UserError(f"a run of task {run.experiment.task} labels nothing: take one of task nli")


def find_task(name: str) -> Task:
    """Return the task called `name`, or at that path; UserError names the nearest known one."""
    task = TASKS.find(name)
    if not isinstance(task, Task):
        raise UserError(
            f"'{name}' is not a valid task: its file must {TASKS.contract}, such as TASK = MyTask()"
        )
    return task
