"""After training: test translations, and translation of free text."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from augury.core.execution import ExecutorName
from augury.core.locks import alone
from augury.core.store import Folder
from augury.corpora.filters import clean_lines
from augury.decoding.corpus import decode
from augury.decoding.ctranslate import CTranslateDecoder
from augury.decoding.settings import Decoding, Translator
from augury.experiments.rendering import rendered, view_named
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE
from augury.text.vocabulary import Vocabulary
from trainables.nmt.config import Config, tag

CTRANSLATE2 = "ctranslate2"
SENTENCES_PER_SECOND = 60  # that one core decodes with the model `small`


def translated(
    run: Run, texts: Sequence[str], decoding: Decoding | None, executor: ExecutorName, name: str
) -> list[str]:
    """Return the translations of clean texts by a finished run, with its own decoding unless another is given."""
    experiment, vocabulary = cast(Config, run.experiment), Vocabulary.load(run.stored(run.tokenizer))
    model = _ctranslate2(run, experiment, vocabulary)
    sources = encoded(run, vocabulary, texts)
    execution = experiment.execution
    hypotheses = decode(
        model,
        sources,
        decoding or experiment.decoding,
        suppress=tuple(vocabulary.tags.values()),
        executor=execution.choose(len(texts) / SENTENCES_PER_SECOND, name, executor),
        threads=execution.threads or 2,
        name=name,
    )
    return vocabulary.decode([hypothesis.ids for hypothesis in hypotheses])


def encoded(
    run: Run, vocabulary: Vocabulary, texts: Sequence[str], view: str = SOURCE, *, tagged: bool = True
) -> list[list[int]]:
    """Return clean texts as a view renders them, in ids without the end of sentence; of an empty text there are none.

    The tag of the target language comes first where the run's model reads one, unless `tagged` is false.
    """
    experiment = cast(Config, run.experiment)
    ids, offsets = vocabulary.encode(rendered(run, texts, view), view_named(run, view))
    prefix = [vocabulary.tags[tag(experiment.corpus.target_language)]] if tagged and experiment.tagged else []
    return [
        [*prefix, *ids[start:end].tolist()] if end > start else []
        for start, end in zip(offsets[:-1], offsets[1:], strict=True)
    ]


def translator(run: Run, threads: int) -> Translator:
    """Return a finished run as a function, its model loaded once; texts are cleaned as its training text was."""
    experiment, vocabulary = cast(Config, run.experiment), Vocabulary.load(run.stored(run.tokenizer))
    decoder = CTranslateDecoder(_ctranslate2(run, experiment, vocabulary).local(), threads=threads)
    positions, tags = experiment.model.max_positions, tuple(vocabulary.tags.values())

    def translate(texts: Sequence[str], view: str, decoding: Decoding) -> list[str | None]:
        sources = encoded(run, vocabulary, clean_lines(texts, experiment.corpus.preparation), view)
        short = [source if len(source) < positions else [] for source in sources]
        most = min(decoding.max_length, positions)
        hypotheses = decoder.translate(short, decoding.model_copy(update={"max_length": most}), tags)
        outputs = vocabulary.decode([hypothesis.ids for hypothesis in hypotheses])
        return [output if len(source) < positions else None for source, output in zip(sources, outputs, strict=True)]

    return translate


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
