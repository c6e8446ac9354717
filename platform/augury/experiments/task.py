"""The contract of a task, and its lookup: `nmt` is the package `trainables.nmt`, `./mine/` a path.

What only some tasks can do with finished runs is in `capabilities`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from augury.core.errors import UserError
from augury.experiments.spec import TASKS

if TYPE_CHECKING:
    from augury.core.execution import ExecutorName
    from augury.core.store import Folder, Store
    from augury.corpora.corpus import Corpus
    from augury.experiments.cost import Size
    from augury.experiments.run import Run
    from augury.experiments.spec import Experiment
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

        return cached_corpus(experiment.corpus, split, store.root, experiment.execution)

    def size(self, experiment: Any, store: Store) -> Size | None:
        """Estimate the size of the model; None where only a hub knows it."""
        return None

    def check(self, experiment: Any, store: Store) -> None:
        """Raise UserError for settings and training text that cannot be prepared."""
        return None

    def check_model(self, experiment: Any, store: Store) -> None:
        """Raise UserError for a model that cannot be trained, before anything is made."""
        return None

    def check_held_out(
        self, experiment: Any, tokenizer: Folder | None, corpora: Mapping[str, Corpus]
    ) -> list[str]:
        """Raise UserError for validation or test text that the model cannot read.

        Before the tokenizer is made (None), return warnings on text that may be unsuitable.
        """
        return []


def find_task(name: str) -> Task:
    """Return the task called `name`, or at that path; UserError names the nearest known one."""
    task = TASKS.find(name)
    if not isinstance(task, Task):
        raise UserError(
            f"'{name}' is not a valid task: its file must {TASKS.contract}, such as TASK = MyTask()"
        )
    return task
