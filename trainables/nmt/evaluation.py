"""After training: test translations, and translation of free text."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from augury.core.execution import ExecutorName
from augury.core.locks import alone
from augury.core.store import Folder
from augury.corpora.filters import clean_lines
from augury.decoding import bayes_risk
from augury.decoding.corpus import CTranslateSearch, Search, Sources, decode
from augury.decoding.ctranslate import CTranslateDecoder
from augury.decoding.search import Hypothesis
from augury.decoding.settings import Decoding, Sampler, Sampling, Translator, ViewDecoding
from augury.experiments.rendering import rendered, view_named
from augury.experiments.run import Run
from augury.experiments.views import PLAIN
from augury.regimes.regime import SOURCE
from augury.text.vocabulary import Vocabulary
from trainables.nmt.config import Config

CTRANSLATE2 = "ctranslate2"
SENTENCES_PER_SECOND = 60  # that one core decodes with the model `small`
SOURCES_PER_SECOND = 10  # the same where several views are in one beam


def translated(
    run: Run,
    texts: Sequence[str],
    decoding: ViewDecoding | None,
    executor: ExecutorName,
    name: str,
    domain: str | None = None,
) -> list[str]:
    """Return the translations of clean texts by a finished run, with its own decoding unless another is given.

    `domain` is the tag of the texts.
    """
    experiment, vocabulary = cast(Config, run.experiment), Vocabulary.load(run.stored(run.tokenizer))
    chosen = decoding or experiment.decoding
    views = {view: encoded(run, vocabulary, texts, view, domain=domain) for view in chosen.views or (PLAIN,)}
    if chosen.combine != "mbr":
        n_best = _searched(run, vocabulary, list(views.values()), chosen, executor, name)
        return vocabulary.decode([best.ids for best, *_ in n_best])
    candidates: list[list[str]] = [[] for _ in texts]
    for view, sources in views.items():
        label = f"{name} {view}"
        n_best = _searched(run, vocabulary, [sources], chosen, executor, label, chosen.candidates)
        for of_sentence, hypotheses in zip(candidates, n_best, strict=True):
            of_sentence += vocabulary.decode([hypothesis.ids for hypothesis in hypotheses])
    return bayes_risk.choose(candidates, chosen.utility, experiment.corpus.target_language)


def translated_ids(
    run: Run, sources: Sequence[Sequence[int]], decoding: Decoding | None, executor: ExecutorName, name: str
) -> list[str]:
    """Return the translations of sources in ids without tag and end of sentence, each from itself alone."""
    experiment, vocabulary = cast(Config, run.experiment), Vocabulary.load(run.stored(run.tokenizer))
    before = prefix(experiment, vocabulary)
    tagged = [[*before, *source] if source else [] for source in sources]
    hypotheses = _searched(run, vocabulary, [tagged], decoding or experiment.decoding, executor, name)
    return vocabulary.decode([best.ids for best, *_ in hypotheses])


def prefix(experiment: Config, vocabulary: Vocabulary, domain: str | None = None) -> list[int]:
    """Return what comes before the pieces of a source: the tag of the target language, that of the domain."""
    return [vocabulary.tags[symbol] for symbol in experiment.prefix(domain)]


def _searched(
    run: Run,
    vocabulary: Vocabulary,
    views: Sequence[Sources],
    decoding: Decoding,
    executor: ExecutorName,
    name: str,
    count: int = 1,
) -> list[list[Hypothesis]]:
    """The best hypotheses of sentences, whose views are read in one beam: by CTranslate2 where there is one view."""
    execution, together = run.experiment.execution, len(views) > 1
    speed = SOURCES_PER_SECOND if together else SENTENCES_PER_SECOND
    backend = execution.choose(len(views) * len(views[0]) / speed, name, executor)
    suppress = tuple(vocabulary.tags.values())
    if together:
        several = TransformersSearch(run, decoding, suppress, count)
        return decode(several, views, executor=backend, name=name, **execution.reserved(backend))
    threads = (execution.threads or 2) if backend.name == "local" else 1
    model = _ctranslate2(run, cast(Config, run.experiment), vocabulary)
    return decode(CTranslateSearch(model, decoding, suppress, threads, count), views, executor=backend, name=name)


@dataclass(frozen=True)
class TransformersSearch:
    """Makes the search of the best `count` hypotheses with the run's model in `transformers`, on a GPU if it may."""

    run: Run
    decoding: Decoding
    suppress: tuple[int, ...] = ()
    count: int = 1

    def __call__(self) -> Search:
        from augury.decoding.generate import n_best
        from trainables.nmt.model import trained_model

        experiment = cast(Config, self.run.experiment)
        model = trained_model(self.run.folder, experiment, Vocabulary.load(self.run.stored(self.run.tokenizer)))
        model.to(experiment.execution.local_device)
        return lambda views: n_best(model, views, self.decoding, self.suppress, self.count)


def encoded(
    run: Run,
    vocabulary: Vocabulary,
    texts: Sequence[str],
    view: str = SOURCE,
    *,
    tagged: bool = True,
    domain: str | None = None,
) -> list[list[int]]:
    """Return clean texts as a view renders them, in ids without the end of sentence; of an empty text there are none.

    The tag of the target language comes first where the run's model reads one, and that of the domain, unless `tagged`
    is false.
    """
    experiment = cast(Config, run.experiment)
    ids, offsets = vocabulary.encode(rendered(run, texts, view), view_named(run, view))
    before = prefix(experiment, vocabulary, domain) if tagged else []
    return [
        [*before, *ids[start:end].tolist()] if end > start else []
        for start, end in zip(offsets[:-1], offsets[1:], strict=True)
    ]


def translator(run: Run, threads: int) -> Translator:
    """Return a finished run as a function, its model loaded once; texts are cleaned as its training text was.

    Where models read the tag of a domain, it is that of the validation set.
    """
    experiment, vocabulary = cast(Config, run.experiment), Vocabulary.load(run.stored(run.tokenizer))
    decoder = CTranslateDecoder(_ctranslate2(run, experiment, vocabulary).local(), threads=threads)
    positions, tags = experiment.model.max_positions, tuple(vocabulary.tags.values())

    def translate(texts: Sequence[str], view: str, decoding: Decoding) -> list[str | None]:
        cleaned = clean_lines(texts, experiment.corpus.preparation)
        sources = encoded(run, vocabulary, cleaned, view, domain=experiment.corpus.tag("valid"))
        short = [source if len(source) < positions else [] for source in sources]
        most = min(decoding.max_length, positions)
        hypotheses = decoder.translate(short, decoding.model_copy(update={"max_length": most}), tags)
        outputs = vocabulary.decode([hypothesis.ids for hypothesis in hypotheses])
        return [output if len(source) < positions else None for source, output in zip(sources, outputs, strict=True)]

    return translate


def sampler(run: Run) -> Sampler:
    """Return a finished run as a function that draws translations; of a text that is too long it draws none."""
    from augury.decoding.sampling import sample
    from trainables.nmt.model import trained_model

    experiment, vocabulary = cast(Config, run.experiment), Vocabulary.load(run.stored(run.tokenizer))
    model = trained_model(run.folder, experiment, vocabulary).to(experiment.execution.local_device)
    model.generation_config.min_new_tokens = 1  # no output is empty, as of a search
    positions, tags = experiment.model.max_positions, tuple(vocabulary.tags.values())

    def draw(texts: Sequence[str], keys: Sequence[int], sampling: Sampling) -> list[str]:
        cleaned = clean_lines(texts, experiment.corpus.preparation)
        sources = encoded(run, vocabulary, cleaned, domain=experiment.corpus.tag("valid"))
        wanted = [row for row, source in enumerate(sources) if 0 < len(source) < positions]
        short = sampling.model_copy(update={"max_length": min(sampling.max_length, positions)})
        ids = [[*sources[row], vocabulary.eos] for row in wanted]
        drawn = sample(model, ids, [keys[row] for row in wanted], short, suppress=tags)
        outputs = [""] * len(texts)
        for row, output in zip(wanted, vocabulary.decode(drawn), strict=True):
            outputs[row] = output
        return outputs

    return draw


def _ctranslate2(run: Run, experiment: Config, vocabulary: Vocabulary) -> Folder:
    """Return the folder of the run's CTranslate2 model, converted at the first call."""
    if run.folder.holds(CTRANSLATE2):
        return run.folder.sub(CTRANSLATE2)
    with alone(run.folder.sub(CTRANSLATE2)):  # many workers may want it at once
        if run.folder.holds(CTRANSLATE2):
            return run.folder.sub(CTRANSLATE2)
        # With torch and transformers, which translating does not need.
        from augury.decoding.conversion import to_ctranslate2
        from trainables.nmt.model import trained_model

        directory = Path(tempfile.mkdtemp(prefix="augury-ctranslate2-"))
        model = trained_model(run.folder, experiment, vocabulary)
        to_ctranslate2(model, directory, vocabulary.pieces, unk=vocabulary.unk)
        run.folder.put(directory, CTRANSLATE2)
    return run.folder.sub(CTRANSLATE2)
