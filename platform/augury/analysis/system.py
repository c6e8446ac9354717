"""A finished run opened for analysis: test sentences in all its views, with their pieces,
translations and states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from augury.augment.health import Health
from augury.core.errors import UserError, unknown
from augury.core.rng import generator
from augury.core.store import Folder
from augury.corpora.corpus import input_columns
from augury.corpora.filters import clean_lines
from augury.decoding.settings import PLAIN
from augury.experiments.record import RunRecord
from augury.experiments.run import Run
from augury.experiments.task import ReadsIds, ShowsStates, capable
from augury.reporting.run_files import operator_outputs
from augury.text.tokens import Tokens

VALID = "valid"


@dataclass
class System:
    """A model and the sentences that it is analysed on; translations are made once.

    `rows` are the indices of the sentences in the test set.
    """

    name: str
    run: Run
    test: str
    rows: Sequence[int]
    _outputs: dict[str, list[str]] = field(default_factory=dict, repr=False)

    @property
    def views(self) -> tuple[str, ...]:
        """The views that texts can be rendered as, plain first."""
        return self.run.experiment.views

    @cached_property
    def record(self) -> RunRecord:
        """What is recorded of the run."""
        return RunRecord.read(self.run.folder)

    @property
    def health(self) -> list[Health]:
        """The measures of what operators made, in earlier stages too."""
        return operator_outputs(self.run.folder, self.record)

    @cached_property
    def sources(self) -> list[str]:
        """The sentences that are translated."""
        return self._column("source")

    @cached_property
    def references(self) -> list[str]:
        """The reference translations."""
        return self._column("target")

    @property
    def language(self) -> str:
        """The language of the references."""
        (language,) = set(self._column("target_language"))
        return language

    @cached_property
    def pieces(self) -> Sequence[str]:
        """The piece of every id."""
        return self._trained.pieces

    def ids(self, view: str = PLAIN) -> list[list[int]]:
        """Return the ids of the sentences in a view, without tag and end of sentence."""
        return self._trained.encode(self.sources, view, tagged=False)

    def encode(self, texts: Sequence[str], view: str = PLAIN) -> list[list[int]]:
        """Return the ids of any source texts in a view, without tag and end of sentence."""
        lines = clean_lines(texts, self.run.experiment.corpus.preparation)
        return self._trained.encode(lines, view, tagged=False)

    def counts(self, view: str = PLAIN) -> npt.NDArray[np.int64]:
        """Return the count of every id in the training source of a view, (pieces,)."""
        address = self.run.tokens[self.run.experiment.resolve_view(view)]
        total = np.zeros(len(self.pieces), np.int64)
        for ids in Tokens(self.run.stored_folder(address)).shards():
            total += np.bincount(ids, minlength=len(total))
        return total

    def outputs(self, view: str = PLAIN) -> list[str]:
        """Return the translations of the sentences, read as a view."""
        if view not in self._outputs:
            self._outputs[view] = self.translate(self.ids(view), f"{self.name}: {view}")
        return self._outputs[view]

    def translate(self, sources: Sequence[Sequence[int]], label: str) -> list[str]:
        """Return the translations of sources, given as ids without tag; `label` is that of the
        progress line."""
        executor = self.run.experiment.execution.executor
        return self._trained.translate_ids(sources, executor=executor, label=label, tag=self._tag)

    def states(self, view: str = PLAIN) -> list[npt.NDArray[np.float32]]:
        """Return the mean encoder state of every sentence, (sentences, dimensions) for every
        layer from embeddings."""
        return self._trained.encoder_states(self.ids(view), self._tag)

    @property
    def _tag(self) -> str | None:
        """The tag that the model reads before the sentences of the test set."""
        return self.run.experiment.corpus.tag(self.test)

    @cached_property
    def _trained(self) -> ReadsIds:
        return capable(self.run.experiment.task, ShowsStates).trained(self.run)

    def _column(self, name: str) -> list[str]:
        column = self.run.corpus(self.test).column(name)
        return [column[row] for row in self.rows]


def open_systems(
    folders: Sequence[Folder],
    *,
    test: str | None = None,
    sentences: int | None = None,
) -> list[System]:
    """Return the systems of run folders, with the same sentences of one test set.

    `test`: by default the first that all have, or the validation set where there is none. Of more
    than `sentences`, a sample is drawn, the same for all systems. UserError where runs have no text
    in common, or do not translate.
    """
    runs = [Run.read(folder) for folder in folders]
    for run in runs:
        capable(run.experiment.task, ShowsStates)
    common = set(runs[0].tests).intersection(*(run.tests for run in runs))
    name = test or next((name for name in runs[0].tests if name in common), VALID)
    addresses = set()
    for run in runs:
        known = [corpus.name for corpus in run.inputs if corpus.name != "train"]
        if name not in known:
            raise unknown(f"test set of {run.folder.uri}", name, known)
        addresses.add(run.corpus(name).address)
    if len(addresses) > 1:
        raise UserError(
            f"{name} is not one text: the runs were made for {len(addresses)}; analyse them one "
            "by one"
        )
    corpus = runs[0].corpus(name)
    texts = corpus.column(input_columns(corpus.kind.columns)[0])
    rows = [row for row, text in enumerate(texts) if text.strip()]
    if sentences is not None and sentences < len(rows):
        random = generator("analysis", corpus.address, sentences)
        rows = sorted(random.choice(rows, sentences, replace=False).tolist())
    systems = [System(run.folder.uri, run, name, rows) for run in runs]
    for form in ("{0.name} {0.address:.8} seed {0.seed}", "{0.name} seed {0.seed}", "{0.name}"):
        shorter = [form.format(system.record) for system in systems]
        if len(set(shorter)) == len(systems):  # not of runs of several storages
            for system, label in zip(systems, shorter, strict=True):
                system.name = label
    return systems
