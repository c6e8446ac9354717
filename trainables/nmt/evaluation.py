"""After training: test translations, and translation of free text."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from augury.core.execution import ExecutorName
from augury.core.store import Folder
from augury.decoding.corpus import decode
from augury.decoding.settings import Decoding
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
    vocabulary = Vocabulary.load(run.stored(run.tokenizer))
    return _decoded(run, vocabulary, encoded(run, vocabulary, texts), decoding, executor, name)


def translated_ids(
    run: Run, sources: Sequence[Sequence[int]], decoding: Decoding | None, executor: ExecutorName, name: str
) -> list[str]:
    """Return the translations of sources in ids without tag and end of sentence, as `translated` does."""
    vocabulary = Vocabulary.load(run.stored(run.tokenizer))
    before = prefix(cast(Config, run.experiment), vocabulary)
    tagged = [[*before, *source] if source else [] for source in sources]
    return _decoded(run, vocabulary, tagged, decoding, executor, name)


def prefix(experiment: Config, vocabulary: Vocabulary) -> list[int]:
    """Return what comes before the pieces of a source: the tag of the target language where the model reads one."""
    return [vocabulary.tags[tag(experiment.corpus.target_language)]] if experiment.tagged else []


def _decoded(
    run: Run,
    vocabulary: Vocabulary,
    sources: Sequence[Sequence[int]],
    decoding: Decoding | None,
    executor: ExecutorName,
    name: str,
) -> list[str]:
    experiment = cast(Config, run.experiment)
    model = _ctranslate2(run, experiment, vocabulary)
    execution = experiment.execution
    hypotheses = decode(
        model,
        sources,
        decoding or experiment.decoding,
        suppress=tuple(vocabulary.tags.values()),
        executor=execution.choose(len(sources) / SENTENCES_PER_SECOND, name, executor),
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
    before = prefix(experiment, vocabulary) if tagged else []
    return [
        [*before, *ids[start:end].tolist()] if end > start else []
        for start, end in zip(offsets[:-1], offsets[1:], strict=True)
    ]


def _ctranslate2(run: Run, experiment: Config, vocabulary: Vocabulary) -> Folder:
    """Return the folder of the run's CTranslate2 model, converted at the first call."""
    if not run.folder.holds(CTRANSLATE2):
        # With torch and transformers, which translating does not need.
        from augury.decoding.conversion import to_ctranslate2
        from trainables.nmt.model import trained_model

        directory = Path(tempfile.mkdtemp(prefix="augury-ctranslate2-"))
        model = trained_model(run.folder, experiment, vocabulary)
        to_ctranslate2(model, directory, vocabulary.pieces, unk=vocabulary.unk)
        run.folder.put(directory, CTRANSLATE2)
    return run.folder.sub(CTRANSLATE2)
