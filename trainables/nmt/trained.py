"""A finished translation run: translations of texts and ids, and states of its encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy.typing as npt

from augury.core.directories import temporary_directory
from augury.core.errors import UserError, is_read_only
from augury.core.execution import ExecutorName
from augury.core.locks import lock_incomplete
from augury.core.store import Folder
from augury.corpora.filters import clean_lines
from augury.decoding.search import Hypothesis, Search, Sources, decode
from augury.decoding.settings import (
    PLAIN,
    Decoding,
    Sampler,
    Sampling,
    Translator,
    ViewDecoding,
)
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE
from trainables.nmt.config import SequenceExperiment
from trainables.nmt.translators import translator_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel

S = TypeVar("S", Decoding, Sampling)
CTRANSLATE2 = "ctranslate2"
MAX_LISTED = 20
"""How many too long lines a message names."""
SENTENCES_PER_SECOND = 60  # that one core decodes with the model `small`
SOURCES_PER_SECOND = 10  # the same where several views are in one beam


class Trained:
    """A finished run, whose model is loaded where it is needed.

    Torch is imported only where a CTranslate2 model must still be made, or is not used.
    """

    def __init__(self, run: Run):
        self.run, self.experiment = run, cast(SequenceExperiment, run.experiment)
        self.kind = translator_of(run)
        self.vocabulary, self.positions = self.kind.vocabulary, self.kind.positions

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
        domain: str | None = None,
    ) -> list[list[int]]:
        """Return the ids of clean texts in a view, without the end of sentence; no ids for an empty
        text.

        Tags come first unless `tagged` is false: that of the target language where the model reads
        one, and that of the domain.
        """
        name, rendered = self.run.experiment.resolve_view(view), list(texts)
        if name != SOURCE:
            # Imports the graph of what a run needs, which takes time.
            from augury.experiments.evaluate import render_texts

            rendered = render_texts(self.run, texts, view)
        ids, offsets = self.vocabulary.encode(rendered, name)
        prefix = self.kind.prefix(domain) if tagged else []
        return [
            [*prefix, *ids[start:end].tolist()] if end > start else []
            for start, end in zip(offsets[:-1], offsets[1:], strict=True)
        ]

    def translate(
        self,
        texts: Sequence[str],
        decoding: ViewDecoding | None = None,
        executor: ExecutorName | None = None,
        label: str = "translate",
        domain: str | None = None,
    ) -> list[str]:
        """Return the translations of clean texts, by the run's own decoding unless another is
        given.

        `domain` is the tag of the texts. UserError for those that the model has no positions for.
        """
        chosen = decoding or self.experiment.decoding
        views = {view: self.encode(texts, view, domain=domain) for view in chosen.views or (PLAIN,)}
        self._require_fitting(views)
        if chosen.combine != "mbr":
            return self._texts(self._search(list(views.values()), chosen, executor, label))
        candidates: list[list[str]] = [[] for _ in texts]
        for view, sources in views.items():
            n_best = self._search([sources], chosen, executor, f"{label} {view}", chosen.beam)
            for of_sentence, hypotheses in zip(candidates, n_best, strict=True):
                of_sentence += self.vocabulary.decode(hypotheses)
        from augury.decoding import bayes_risk

        return bayes_risk.choose(candidates)

    def translate_ids(
        self,
        sources: Sequence[Sequence[int]],
        decoding: Decoding | None = None,
        executor: ExecutorName = "local",
        label: str = "translate",
        domain: str | None = None,
    ) -> list[str]:
        """Return the translations of sources in ids without tag and end of sentence, without
        combining views."""
        prefix = self.kind.prefix(domain)
        tagged = [[*prefix, *source] if source else [] for source in sources]
        return self._texts(
            self._search([tagged], decoding or self.experiment.decoding, executor, label)
        )

    def translator(self, threads: int) -> Translator:
        """Return the run as a function, its model loaded once, which cleans texts as the training
        text was.

        Where models read the tag of a domain, it is that of the validation set.
        """
        search = self.search(threads)

        def translate(texts: Sequence[str], view: str, decoding: Decoding) -> list[str | None]:
            sources, rows = self._readable(texts, view)
            n_best = search([[sources[row] for row in rows]], self._capped(decoding), 1)
            return _of_all(sources, rows, self._texts(n_best))

        return translate

    def sampler(self) -> Sampler:
        """Return the run as a function that samples translations; None for too long texts."""
        from augury.decoding.sampling import sample

        model = self.model().to(self.experiment.execution.local_device)
        model.generation_config.min_new_tokens = 1  # no output is empty, as in search
        eos, never = self.vocabulary.eos, self.vocabulary.never
        first = next(iter(self.vocabulary.first), None)

        def draw(texts: Sequence[str], keys: Sequence[int], sampling: Sampling) -> list[str | None]:
            sources, rows = self._readable(texts)
            ids, chosen = [[*sources[row], eos] for row in rows], [keys[row] for row in rows]
            capped = self._capped(sampling)
            drawn = sample(model, ids, chosen, capped, suppress=never, first=first)
            written = [text.strip() for text in self.vocabulary.decode(drawn)]
            return _of_all(sources, rows, written)

        return draw

    def encoder_states(
        self, sources: Sequence[Sequence[int]], domain: str | None = None
    ) -> list[npt.NDArray]:
        """Return the mean encoder state of every source for every layer, without tag and end of
        sentence."""
        from trainables.sequence import mean_states

        before = self.kind.prefix(domain)
        framed = [[*before, *source, self.vocabulary.eos] for source in sources]
        if (longest := max(map(len, framed))) > self.positions:
            raise UserError(
                f"a source of {longest} pieces exceeds the model's {self.positions:,} positions"
            )
        model = self.model().to(self.experiment.execution.local_device)
        return mean_states(model, framed, before=len(before), after=1)

    def model(self) -> PreTrainedModel:
        """Return the model of `transformers` with the weights that the run reports on, its
        embeddings in tables."""
        return self.kind.trained(self.run.folder)

    def search(self, threads: int, *, together: bool = False) -> Search:
        """Return the search of this process.

        By CTranslate2 on `threads`; or by `transformers`, on a GPU if it may, where views are in
        one beam `together` or CTranslate2 does not read the model.
        """
        if together or not self.kind.convertible:
            model = self.model().to(self.experiment.execution.local_device)
            return self.kind.by_transformers(model)
        return self.kind.by_ctranslate2(self._ctranslate2().local(), threads)

    def _readable(
        self, texts: Sequence[str], view: str = SOURCE
    ) -> tuple[list[list[int]], list[int]]:
        """Return texts as ids, and the rows of those that are not empty and fit into the model's
        positions."""
        corpus = self.experiment.corpus
        sources = self.encode(
            clean_lines(texts, corpus.preparation), view, domain=corpus.tag("valid")
        )
        return sources, [
            row for row, source in enumerate(sources) if 0 < len(source) < self.positions
        ]

    def _require_fitting(self, views: Mapping[str, list[list[int]]]) -> None:
        """Raise UserError with the lines of sources, by view, that exceed the model's positions."""
        most = self.positions - 1  # the end of sentence is one more
        sizes = [max(map(len, of_views)) for of_views in zip(*views.values(), strict=True)]
        rows = [row for row, size in enumerate(sizes) if size > most]
        if rows:
            lines = ", ".join(f"{row + 1} ({sizes[row]:,} pieces)" for row in rows[:MAX_LISTED])
            more = f" and {len(rows) - MAX_LISTED:,} more" if len(rows) > MAX_LISTED else ""
            raise UserError(
                f"{len(rows):,} of {len(sizes):,} lines are longer than the {most:,} pieces that "
                f"the model reads, line {lines}{more}: split or shorten them"
            )

    def _capped(self, settings: S) -> S:
        """Return settings of decoding with outputs that fit into the model's positions."""
        most = min(settings.max_length, self.positions)
        return settings.model_copy(update={"max_length": most})

    def _texts(self, n_best: Sequence[Sequence[Hypothesis]]) -> list[str]:
        """Return the texts of the best hypotheses."""
        return self.vocabulary.decode([best for best, *_ in n_best])

    def _search(
        self,
        views: Sequence[Sources],
        decoding: Decoding,
        executor: ExecutorName | None,
        label: str,
        count: int = 1,
    ) -> list[list[Hypothesis]]:
        """Return the best hypotheses of sentences: several views are in one beam."""
        execution = self.experiment.execution
        together = len(views) > 1
        slow = together or not self.kind.convertible
        speed = SOURCES_PER_SECOND if slow else SENTENCES_PER_SECOND
        backend = execution.choose(len(views) * len(views[0]) / speed, label, executor)
        threads = (execution.threads or 2) if backend.name == "local" else 1
        reserved = execution.reserved(backend) if slow else {}
        make = partial(self.search, threads, together=together)
        return decode(make, views, decoding, count, executor=backend, name=label, **reserved)

    def _ctranslate2(self) -> Folder:
        """Return the folder of the run's CTranslate2 model, converted at the first call; where the
        storage cannot be written, one that lasts as long as this process."""
        run = self.run.folder
        folder = run.sub(CTRANSLATE2)
        with lock_incomplete([folder]) as missing:  # many workers may want it at once
            if missing:
                directory = temporary_directory("ctranslate2")
                self.kind.convert(self.model(), directory)
                try:
                    run.put(directory, CTRANSLATE2)
                except OSError as error:
                    if not is_read_only(error):
                        raise
                    return Folder(str(directory.parent), directory.name)
        return folder


def _of_all(
    sources: Sequence[Sequence[int]], rows: Sequence[int], texts: Sequence[str]
) -> list[str | None]:
    """Return the texts of some rows of sources; for others None, or an empty one where there is
    nothing to read."""
    outputs = dict(zip(rows, texts, strict=True))
    return [outputs.get(row, None if source else "") for row, source in enumerate(sources)]
