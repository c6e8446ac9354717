"""A finished translation run: translations of texts and ids, and states of its encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy.typing as npt

from augury.core.errors import UserError
from augury.core.execution import ExecutorName, map_texts
from augury.core.store import Folder
from augury.corpora.filters import clean_lines
from augury.decoding.search import Sources, check_lengths
from augury.decoding.sequence_model import SequenceModel
from augury.decoding.settings import PLAIN, Decoding
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE
from augury.training.trained import load_weights
from trainables.nmt.config import SequenceExperiment
from trainables.nmt.pretrained import architecture_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel

CHUNK_SENTENCES = 512
SENTENCES_PER_SECOND = 60  # that one core decodes with the model `small`


class Trained(SequenceModel):
    """A finished run."""

    def __init__(self, run: Run):
        self.run, self.experiment = run, cast(SequenceExperiment, run.experiment)
        self.architecture = architecture_of(run)
        self.vocabulary, self.positions = self.architecture.vocabulary, self.architecture.positions

    def __reduce__(self) -> tuple[Any, ...]:
        return Trained, (self.run,)  # another process reads the vocabulary itself

    @property
    def pieces(self) -> Sequence[str]:
        return self.vocabulary.pieces

    def encode(
        self,
        texts: Sequence[str],
        view: str = SOURCE,
        *,
        tagged: bool = True,
        tag: str | None = None,
    ) -> list[list[int]]:
        """Return the ids of clean texts in a view, without the end of sentence; no ids for an empty
        text.

        Tags come first unless `tagged` is false: that of the target language where the model reads
        one, and that of the domain.
        """
        name, rendered = self.run.experiment.resolve_view(view), list(texts)
        if name != SOURCE:
            # Imports the graph of what a run needs, which takes time.
            from augury.experiments.trial import render_texts

            rendered = render_texts(self.run, texts, view)
        ids, offsets = self.vocabulary.encode(rendered, name)
        prefix = self.architecture.prefix(tag) if tagged else []
        return [
            [*prefix, *ids[start:end].tolist()] if end > start else []
            for start, end in zip(offsets[:-1], offsets[1:], strict=True)
        ]

    def read(self, texts: Sequence[str], view: str = PLAIN) -> list[list[int]]:
        """Return texts as ids, cleaned as the training text was.

        Where models read the tag of a domain, it is that of the validation set.
        """
        corpus = self.experiment.corpus
        return self.encode(clean_lines(texts, corpus.preparation), view, tag=corpus.tag("valid"))

    def translate(
        self,
        texts: Sequence[str],
        decoding: Decoding | None = None,
        executor: ExecutorName | None = None,
        label: str = "translate",
        tag: str | None = None,
    ) -> list[str]:
        """Return the translations of clean texts, by the run's own decoding unless another is
        given.

        `tag` is that of the texts. UserError for those that the model has no positions for.
        """
        sources = self.encode(texts, tagged=False)
        return self.translate_ids(sources, decoding, executor, label, tag)

    def translate_ids(
        self,
        sources: Sequence[Sequence[int]],
        decoding: Decoding | None = None,
        executor: ExecutorName | None = "local",
        label: str = "translate",
        tag: str | None = None,
    ) -> list[str]:
        """Return the translations of sources in ids without tag and end of sentence."""
        prefix = self.architecture.prefix(tag)
        tagged = [[*prefix, *source] if source else [] for source in sources]
        execution, chosen = self.experiment.execution, decoding or self.experiment.decoding
        check_lengths(tagged, chosen, self.positions)
        order = sorted(range(len(sources)), key=lambda row: len(tagged[row]))
        backend = execution.choose(len(sources) / SENTENCES_PER_SECOND, label, executor)
        threads = (execution.threads or 2) if backend.name == "local" else 1

        def searching() -> Callable[[Sources], list[list[int]]]:
            search = self.search(threads)  # once in every process
            return lambda chunk: list(map(list, search(chunk, chosen)))

        found = map_texts(
            backend,
            searching,
            [tagged[row] for row in order],
            name=label,
            unit="sentences",
            chunk=CHUNK_SENTENCES,
        )
        hypotheses = [found[place] for place in sorted(range(len(order)), key=order.__getitem__)]
        return self.vocabulary.decode(hypotheses)

    def encoder_states(
        self, sources: Sequence[Sequence[int]], tag: str | None = None
    ) -> list[npt.NDArray]:
        """Return the mean encoder state of every source for every layer, without tag and end of
        sentence."""
        from trainables.sequence import mean_states

        before = self.architecture.prefix(tag)
        framed = [[*before, *source, self.vocabulary.eos] for source in sources]
        if (longest := max(map(len, framed))) > self.positions:
            raise UserError(
                f"a source of {longest} pieces exceeds the model's {self.positions:,} positions"
            )
        model = self.model().to(self.experiment.execution.local_device)
        return mean_states(model, framed, len(before))

    def model(self) -> PreTrainedModel:
        """Return the model of `transformers` with the weights that the run reports on, its
        embeddings in tables."""
        from trainables.nmt.embeddings import tabulated

        return tabulated(load_weights(self.run.folder, self.architecture.empty()))

    def conversion(self) -> tuple[Folder, str]:
        return self.run.folder, "ctranslate2"
