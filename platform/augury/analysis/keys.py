"""Compare a cipher's keys before any training: how much does the segmentation of enciphered text
differ from plain?

For every key, the vocabulary is learned that an experiment with this key would learn, under the
address where training looks for it. A cipher by itself does not affect BPE: merges depend on
counts, not on letters. Segmentations differ because the views and the target share one vocabulary,
in which equal strings of different views are counted together. How much they differ depends on the
key.

The similarity is the mutual information of piece boundaries. A position lies between two
neighbouring letters of the training source; B and C say whether a piece ends there in the plain and
in the enciphered text, which has a letter for every letter. 2 I(B; C) / (H(B) + H(C)) is 1 where
both are segmented equally and 0 where they are independent. Positions next to spaces, punctuation
and digits are left out: pieces always end there, and all keys would look alike.

A ranking is uncertain for two reasons. The bootstrap over sentences, with fixed vocabularies, shows
how precisely the similarity is known. It cannot show what BPE would learn from other text:
therefore vocabularies are also learned from each half of the text, and the ranks of the keys in
both halves are compared.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr

from augury.augment import pipeline, planning
from augury.augment.cipher import Cipher
from augury.augment.operator import check_columns
from augury.core.errors import UserError
from augury.core.execution import ExecutorName
from augury.core.executors import Row, Task
from augury.core.locks import make_once
from augury.core.progress import Stage
from augury.core.rng import generator
from augury.core.store import Folder, Store
from augury.experiments.spec import Experiment, parse
from augury.experiments.task import find_task
from augury.regimes.regime import SOURCE
from augury.scoring.bootstrap import SAMPLES, Resampled, resample
from augury.scoring.significance import Difference, Interval, compare, interval
from augury.text.ciphers.alphabet import Alphabet
from augury.text.tokens import Text
from augury.text.vocabulary.settings import VocabularyConfig
from augury.text.vocabulary.tokenizer import VocabularyTokenizer
from augury.text.vocabulary.training import Texts
from augury.text.vocabulary.training import train as train_vocabulary
from augury.text.vocabulary.vocabulary import Vocabulary

MOST_KEYS = 10
SENTENCES = 20_000
RARE = 10
"""A piece is rare if the training source of a view has it fewer times than this."""
PAIRS_PER_SECOND = 150
"""Sentence pairs from which one core learns a joint vocabulary in a second."""


@dataclass(frozen=True)
class Segmentation:
    """The pieces of a text in one view."""

    pieces_per_sentence: float
    used: int
    """The number of different pieces."""
    rare: float
    """The share of rare ones among these."""
    rarest: float
    """The median over sentences of the count of their rarest piece (CipherDAug, section 4.3)."""


@dataclass(frozen=True)
class KeyResult:
    """A candidate key."""

    key: int
    entries: int
    """The size of the joint vocabulary."""
    shared: float
    """The mutual information of boundaries, normalised: 0 to 1."""
    interval: Interval
    bits: float
    """The mutual information, in bits per position."""
    differing: float
    """The share of positions where a piece ends in only one of the two texts."""
    plain: Segmentation
    enciphered: Segmentation
    overlap: float
    """Pieces of two letters and more that both texts have, divided by those that either has."""
    positions: int
    halves: tuple[float, float] | None
    """`shared` with vocabularies learned from either half of the text; None where a half is too
    small."""
    left_out: int
    """The number of sentences that their pieces do not spell, such as with unknown characters."""


@dataclass(frozen=True)
class KeyRanking:
    """The candidates, the least similar to plain text first, and the uncertainty of their order."""

    keys: tuple[KeyResult, ...]
    sentences: int
    rows: int
    """The number of sentences of the training corpus: vocabularies are learned from all,
    `sentences` are compared."""
    to_next: Difference | None
    """The second minus the first, in normalised mutual information (paired bootstrap over
    sentences)."""
    first_share: float
    """The share of resampled texts in which the first key has the minimum.

    Vocabularies are held fixed.
    """
    halves_agree: float | None
    """The rank correlation (Spearman) of the keys between the halves of the text; None below
    three keys."""
    ranks: tuple[int, int] | None
    """The rank of the first key in either half, from 1."""


def analyse_keys(
    experiment: Experiment,
    store: Store,
    keys: Sequence[int] | None = None,
    *,
    sentences: int = SENTENCES,
    executor: ExecutorName | None = None,
) -> KeyRanking:
    """Rank keys by how much they change the segmentation of an experiment's training source.

    `keys`: by default 1 to 10, or fewer for a small alphabet. The experiment's cipher, if it has
    one, defines the alphabet. Missing texts and vocabularies are made in the store. UserError for a
    key that changes nothing, and for a task without a joint vocabulary.
    """
    task = find_task(experiment.task)
    cipher = next((part for part in experiment.augment if isinstance(part, Cipher)), Cipher())
    check_columns(cipher, experiment.corpus.KIND.columns)
    settings = getattr(experiment, "vocabulary", None)
    if settings is not None and not settings.preprocessor("", "").is_identity:
        raise UserError(
            "keys are compared by where pieces end between the letters of the text, which "
            "vocabulary.tokenise and vocabulary.casing change: analyse them with --set "
            "vocabulary.tokenise=none vocabulary.casing=none"
        )
    corpus = task.corpus(experiment, "train", store)
    alphabet = Alphabet.from_json(
        pipeline.fit(corpus, cipher, store, execution=experiment.execution)
    )
    chosen = list(dict.fromkeys(keys or range(1, min(MOST_KEYS + 1, alphabet.period))))
    candidate = cipher.model_copy(update={"keys": tuple(chosen)})
    candidate.check_fitted(alphabet.to_json())
    distinct = {key % alphabet.period for key in chosen}
    if len(distinct) < len(chosen):
        raise UserError(
            f"of keys {chosen} two are one cipher: keys that differ by {alphabet.period} are"
        )
    pipeline.augment(corpus, [candidate], store, execution=experiment.execution)
    rows = sorted(generator("keys", corpus.address).permutation(corpus.rows)[:sentences].tolist())
    measure = _Measure(experiment.to_dict(), cipher.to_dict(), store.root, tuple(rows))
    backend = experiment.execution.choose(
        len(chosen) * corpus.rows / PAIRS_PER_SECOND, "analyze keys", executor
    )
    with Stage("keys", len(chosen), "keys") as stage:
        results = backend.map(measure, [{"key": key} for key in chosen], stage)
    resampled = []
    for result in results:
        table = np.asarray(result["table"])
        resampled.append(resample([table], normalised_information, samples=SAMPLES))
    return _rank(
        [
            _key_result(json.loads(result["measured"]), sample)
            for result, sample in zip(results, resampled, strict=True)
        ],
        resampled,
        len(rows),
        corpus.rows,
    )


def _rank(
    keys: Sequence[KeyResult], resampled: Sequence[Resampled], sentences: int, rows: int
) -> KeyRanking:
    order = sorted(range(len(keys)), key=lambda index: keys[index].shared)
    ranked = [keys[index] for index in order]
    samples = np.column_stack([resampled[index].samples[:, 0] for index in order])
    halves = np.array([key.halves for key in ranked if key.halves])
    known = len(halves) == len(ranked) > 1
    return KeyRanking(
        tuple(ranked),
        sentences,
        rows,
        compare(resampled[order[0]], resampled[order[1]]) if len(order) > 1 else None,
        float((samples.argmin(1) == 0).mean()),
        float(spearmanr(*halves.T).statistic) if known and len(ranked) > 2 else None,
        (int((halves[:, 0] < halves[0, 0]).sum()) + 1, int((halves[:, 1] < halves[0, 1]).sum()) + 1)
        if known
        else None,
    )


def _key_result(measured: dict[str, Any], resampled: Resampled) -> KeyResult:
    measured["plain"] = Segmentation(**measured["plain"])
    measured["enciphered"] = Segmentation(**measured["enciphered"])
    measured["halves"] = measured["halves"] and tuple(measured["halves"])
    return KeyResult(shared=resampled.value, interval=interval(resampled), **measured)


@dataclass(frozen=True)
class _Measure:
    """Creates the task that learns a key's vocabulary and returns its measurements, as JSON, and
    its boundary table."""

    experiment: dict[str, Any]
    cipher: dict[str, Any]
    root: str
    rows: tuple[int, ...]

    def __call__(self) -> Task:
        experiment, store, rows = parse(self.experiment), Store(self.root), np.array(self.rows)
        cipher = Cipher.model_validate(self.cipher)

        def measure(row: Row) -> Row:
            key = int(row["key"])
            name, texts, folder = learn_vocabulary(
                experiment, cipher.model_copy(update={"keys": (key,)}), store
            )
            vocabulary = Vocabulary.load(folder)
            lines = {view: list(text.lines()) for view, text in texts.items()}
            ids, lengths, long = [], [], []
            for view in (SOURCE, name):
                ids.append(vocabulary.encode(lines[view], view))
                sample = [lines[view][row] for row in rows]
                lengths.append(_piece_lengths(vocabulary, sample, view))
                used = [vocabulary.pieces[piece] for piece in np.unique(ids[-1][0])]
                long.append({piece for piece in used if len(piece.strip("▁")) > 1})
            table, left_out = boundary_table([lines[SOURCE][row] for row in rows], lengths)
            sums = table.sum(0).tolist()
            halves = _half_scores(experiment, len(vocabulary), lines, name)
            measured = {
                "key": key,
                "entries": len(vocabulary),
                "bits": information(sums)[0],
                "differing": (sums[1] + sums[2]) / max(1, sum(sums)),
                "plain": asdict(_segmentation(*ids[0], len(vocabulary))),
                "enciphered": asdict(_segmentation(*ids[1], len(vocabulary))),
                "overlap": len(long[0] & long[1]) / max(1, len(long[0] | long[1])),
                "positions": int(sum(sums)),
                "halves": halves,
                "left_out": left_out,
            }
            return {"rows": 1, "measured": json.dumps(measured), "table": table}

        return measure


def learn_vocabulary(
    experiment: Experiment, cipher: Cipher, store: Store
) -> tuple[str, dict[str, Text], Folder]:
    """Return the name of a cipher's view, the texts that the vocabulary is learned from, and the
    vocabulary's folder.

    The vocabulary is that of the experiment with this cipher as its only operator, and is learned
    if it is missing.
    """
    task = find_task(experiment.task)
    ciphered = experiment.model_copy(update={"augment": (cipher,)})
    corpus = task.corpus(experiment, "train", store)
    (part,) = planning.plan(corpus.address, [cipher], store)
    texts = {
        side: Text(corpus.folder, columns, side) for side, columns in task.sides(experiment).items()
    }
    texts[part.name] = Text(part.folder, ("text",), part.name)
    tokenizer = task.tokenizer(ciphered, texts, store)
    if not isinstance(tokenizer, VocabularyTokenizer):
        raise UserError(
            f"task {experiment.task} has the pieces of a pretrained model, which no key changes: "
            "take nmt"
        )
    make_once(tokenizer.folder, lambda: task.make_tokenizer(ciphered, texts, tokenizer.folder))
    return part.name, texts, tokenizer.folder


def _half_scores(
    experiment: Experiment, entries: int, texts: Mapping[str, Sequence[str]], view: str
) -> tuple[float, float] | None:
    """Return the similarity of a view to the plain source with vocabularies learned from each half
    of the text.

    Halves are the even and the odd sentences. A joint vocabulary has as many `entries` as that of
    the whole text. None where the halves have too little text.
    """
    config: VocabularyConfig = experiment.vocabulary  # type: ignore[attr-defined]
    if config.mode == "joint":
        config = config.model_copy(update={"size": entries - 1, "size_per_key": 1})
    values = []
    for half in range(2):
        groups: dict[str, Texts] = {
            name: partial(list, of_view[half::2]) for name, of_view in texts.items()
        }
        with TemporaryDirectory() as directory:
            folder = Store(directory).folder("vocabularies", "half")
            try:
                languages = experiment.corpus.languages_of("train")
                vocabulary = train_vocabulary(groups, config, languages=languages, folder=folder)
            except UserError:
                return None
        lines = {name: list(groups[name]()) for name in (SOURCE, view)}
        table, _ = boundary_table(
            lines[SOURCE],
            [_piece_lengths(vocabulary, of_view, name) for name, of_view in lines.items()],
        )
        values.append(normalised_information(table.sum(0).tolist()))
    return values[0], values[1]


def boundary_table(
    texts: Sequence[str], cuts: Sequence[Sequence[Sequence[int]]]
) -> tuple[npt.NDArray[np.int64], int]:
    """Count positions by whether a piece ends there, (sentences, 4): in neither view, the second,
    the first, both.

    `cuts` are, for both views and every text, the lengths of its pieces, with the space before the
    text. Also returns the number of texts whose lengths do not add up, which have no positions.
    """
    table, left_out = np.zeros((len(texts), 4), np.int64), 0
    for row, (text, *lengths) in enumerate(zip(texts, *cuts, strict=True)):
        if any(sum(of_view) != len(text) + 1 for of_view in lengths):
            left_out += 1
            continue
        letters = np.array(list(map(str.isalpha, text)), bool)
        first, second = (
            np.isin(np.arange(1, len(text)), np.cumsum(of_view) - 1) for of_view in lengths
        )
        inside = letters[:-1] & letters[1:] if len(text) else letters
        table[row] = np.bincount(2 * first[inside] + second[inside], minlength=4)
    return table, left_out


def normalised_information(sums: Sequence[float]) -> float:
    """Return 2 I / (H + H') of a table of `boundary_table`, 0 to 1; 1 where both entropies are
    0."""
    bits, first, second = information(sums)
    return 2 * bits / (first + second) if first + second else 1.0


def information(sums: Sequence[float]) -> tuple[float, float, float]:
    """Return mutual information and both entropies of a table of `boundary_table`, in bits per
    position."""
    neither, second, first, both = (count / max(1.0, sum(sums)) for count in sums)
    entropies = [_entropy([share, 1 - share]) for share in (first + both, second + both)]
    return (
        max(0.0, sum(entropies) - _entropy([neither, second, first, both])),
        entropies[0],
        entropies[1],
    )


def _entropy(shares: Sequence[float]) -> float:
    return -sum(share * math.log2(share) for share in shares if share > 0)


def _piece_lengths(vocabulary: Vocabulary, texts: Sequence[str], view: str) -> list[list[int]]:
    """Return the lengths of the pieces of every text."""
    ids, offsets = vocabulary.encode(texts, view)
    lengths = np.array([len(piece) for piece in vocabulary.pieces])[ids]
    return [
        lengths[start:end].tolist() for start, end in zip(offsets[:-1], offsets[1:], strict=True)
    ]


def _segmentation(
    ids: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64], entries: int
) -> Segmentation:
    counts = np.bincount(ids, minlength=entries)
    used = counts[counts > 0]
    sentences = [ids[start:end] for start, end in zip(offsets[:-1], offsets[1:], strict=True)]
    return Segmentation(
        len(ids) / max(1, len(sentences)),
        len(used),
        float((used < RARE).mean()),
        float(np.median([counts[pieces].min() for pieces in sentences if len(pieces)])),
    )
