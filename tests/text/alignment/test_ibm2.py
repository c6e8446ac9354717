from __future__ import annotations

from collections import Counter, defaultdict
from math import exp

import hypothesis
import numpy as np
import pytest
from scipy.special import psi

from augury.text.alignment import ibm2
from augury.text.alignment.bitext import Lexicon, encode
from augury.text.alignment.ibm2 import FastAlign
from augury.text.alignment.model import Table, Tables
from augury.text.alignment.symmetrise import BOTH, Direction

TOY = (
    [["das", "Haus"], ["das", "Buch", "da"], ["ein", "Buch"], ["das", "das", "Haus", "da"]],
    [["the", "house"], ["the", "book", "there"], ["a", "book"], ["the", "there", "house"]],
)


@pytest.mark.parametrize(
    ("j", "generated", "generating", "expected"),
    [
        (1, 2, 2, [0.810333, 0.109667]),
        (2, 2, 2, [0.109667, 0.810333]),
        (2, 3, 2, [0.607896, 0.312104]),
        (1, 2, 3, [0.406433, 0.406433, 0.107135]),
        (2, 2, 3, [0.047953, 0.181917, 0.690131]),
        (2, 3, 3, [0.158794, 0.602412, 0.158794]),
    ],
)
def test_the_diagonal_prior_is_that_of_fast_align(
    j: int, generated: int, generating: int, expected: list[float]
) -> None:
    off = ibm2.distances(generating, np.array([generated]), j - 1)
    assert 0.92 * ibm2.prior(off, 4.0)[:, 0] == pytest.approx(expected, abs=5e-7)


class Plain:
    """The model word by word, as its definition reads."""

    def __init__(self, pairs: list[tuple[list[str], list[str]]], settings: FastAlign):
        self.pairs, self.settings = pairs, settings
        self.table: dict[tuple[str | None, str], float] = {}
        self.tension = settings.tension

    def prior(self, i: int, n: int, j: int, m: int) -> float:
        weights = [exp(-self.tension * abs((k + 1) / n - (j + 1) / m)) for k in range(n)]
        return weights[i] / sum(weights)

    def scores(self, generating: list[str], generated: list[str], j: int) -> list[float]:
        """Of null, then of every position."""
        null, word = self.settings.null, generated[j]
        scores = [null * self.table.get((None, word), 1e-9)]
        for i, other in enumerate(generating):
            prior = self.prior(i, len(generating), j, len(generated))
            scores.append((1 - null) * prior * self.table.get((other, word), 1e-9))
        return scores

    def iterate(self, optimise: bool) -> None:
        counts: dict[tuple[str | None, str], float] = defaultdict(float)
        distance = 0.0
        for generating, generated in self.pairs:
            for j, word in enumerate(generated):
                scores = self.scores(generating, generated, j)
                for i, score in enumerate(scores):
                    counts[generating[i - 1] if i else None, word] += score / sum(scores)
                    if i:
                        distance += (
                            score
                            / sum(scores)
                            * abs(i / len(generating) - (j + 1) / len(generated))
                        )
        self.normalise(counts)
        if optimise:
            self.optimise(distance)

    def normalise(self, counts: dict[tuple[str | None, str], float]) -> None:
        totals: dict[str | None, float] = defaultdict(float)
        for (other, _), count in counts.items():
            totals[other] += count + self.settings.alpha
        self.table = {
            (other, word): exp(psi(count + self.settings.alpha) - psi(totals[other]))
            for (other, word), count in counts.items()
        }

    def optimise(self, distance: float) -> None:
        words = sum(len(generated) for _, generated in self.pairs)
        for _ in range(8):
            model = 0.0
            for generating, generated in self.pairs:
                n, m = len(generating), len(generated)
                for j in range(m):
                    model += sum(
                        self.prior(i, n, j, m) * abs((i + 1) / n - (j + 1) / m) for i in range(n)
                    )
            self.tension = min(max(self.tension + 20 * (model / words - distance / words), 0.1), 14)


def trained(
    sources: list[list[str]], targets: list[list[str]], model: FastAlign
) -> tuple[Lexicon, Tables]:
    """The vectorised model after the iterations that train."""
    bitext, lexicon = encode(sources, targets)
    tables, lengths = model.start(lexicon), Counter(map(tuple, bitext.lengths.tolist()))
    for iteration in range(model.iterations):
        tables = model.maximise(model.expect(bitext, tables), tables, lexicon, lengths, iteration)
    return lexicon, tables


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_it_computes_what_its_definition_says(direction: Direction) -> None:
    model = FastAlign(null=0.2, alpha=0.05)
    lower = [[[word.lower() for word in sentence] for sentence in side] for side in TOY]
    plain = Plain(
        list(zip(*(lower if direction == "forward" else lower[::-1]), strict=True)), model
    )
    for iteration in range(4):
        plain.iterate(iteration > 0)
    lexicon, tables = trained(*TOY, model)
    table = tables[direction]
    sources, targets = lexicon.words_of_pairs()
    words = lexicon.generated(direction)
    for source, target, probability in zip(sources, targets, table.pairs, strict=True):
        pair = lexicon.source_words[int(source)].as_py(), lexicon.target_words[int(target)].as_py()
        assert probability == pytest.approx(
            plain.table[pair if direction == "forward" else pair[::-1]], rel=1e-9
        )
    assert table.null == pytest.approx(
        [plain.table[None, word] for word in words.to_pylist()], rel=1e-9
    )
    assert table.order == pytest.approx([plain.tension], rel=1e-9) and plain.tension != 4
    links = model.links(encode(*TOY)[0], tables, 4)[direction]
    for row, (generating, generated) in enumerate(plain.pairs):
        best = [
            int(np.argmax(plain.scores(generating, generated, j))) for j in range(len(generated))
        ]
        expected = [
            (i - 1, j) if direction == "forward" else (j, i - 1) for j, i in enumerate(best) if i
        ]
        assert links[row] == sorted(expected)


def test_counts_are_those_of_all_words() -> None:
    bitext, lexicon = encode([["a", "b"], []], [["x", "y", "x"], ["z"]])
    counts = FastAlign().expect(bitext, FastAlign().start(lexicon))["forward"]
    assert counts.pairs.sum() + counts.null.sum() == pytest.approx(3)
    assert counts.null == pytest.approx([0.16, 0.08, 0])  # x, y and z, which no sentence pair has


def tables(lexicon: Lexicon, null: float, tension: float) -> dict[Direction, Table]:
    """All words of one probability, given each other and given null."""
    order, pairs = np.array([tension]), np.ones(len(lexicon.pairs))
    return {
        way: Table(pairs, np.full(len(lexicon.generated(way)), float(null)), order) for way in BOTH
    }


def test_the_first_of_equal_positions_is_linked() -> None:
    bitext, lexicon = encode([["a", "a"]], [["x"]])
    links = FastAlign().links(bitext, tables(lexicon, 1, 0), 1)
    assert links == {"forward": [[(0, 0)]], "reverse": [[(0, 0), (1, 0)]]}


def test_a_link_is_more_probable_than_null() -> None:
    bitext, lexicon = encode([["a"]], [["x"]])
    even = FastAlign(null=0.5)
    assert even.links(bitext, tables(lexicon, 1, 4), 1)["forward"] == [[]]
    assert even.links(bitext, tables(lexicon, 0.99, 4), 1)["forward"] == [[(0, 0)]]


@hypothesis.settings(max_examples=25, deadline=None)
@hypothesis.given(hypothesis.strategies.floats(0.5, 10))
def test_the_tension_finds_the_distance_that_it_made(truth: float) -> None:
    lengths = {(5, 6): 3, (12, 9): 2, (1, 4): 1, (5, 2): 1}
    distance = 0.0
    for (generating, generated), count in lengths.items():
        off = ibm2.distances(generating, np.full(generated, generated), np.arange(generated))
        distance += count * float((ibm2.prior(off, truth) * off).sum())
    tension = 4.0
    for _ in range(40):
        tension = ibm2.optimise_tension(tension, distance, lengths)
    assert tension == pytest.approx(truth, rel=1e-3)
    assert (
        ibm2.optimise_tension(4.0, 0.0, {(9, 9): 1}) <= 14
        and ibm2.optimise_tension(0.2, 9.0, {(9, 9): 1}) == 0.1
    )
