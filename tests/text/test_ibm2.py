from __future__ import annotations

from collections import defaultdict
from math import exp

import hypothesis
import numpy as np
import pytest
from scipy.special import psi

from augury.text import ibm2
from augury.text.bitext import Direction, Lexicon, encode
from augury.text.ibm2 import Settings, Table

TOY = (
    [["das", "Haus"], ["das", "Buch", "da"], ["ein", "Buch"], ["das", "das", "Haus", "da"]],
    [["the", "house"], ["the", "book", "there"], ["a", "book"], ["the", "there", "house"]],
)


@pytest.mark.parametrize(
    ("j", "generated", "given", "expected"),
    [
        (1, 2, 2, [0.810333, 0.109667]),
        (2, 2, 2, [0.109667, 0.810333]),
        (2, 3, 2, [0.607896, 0.312104]),
        (1, 2, 3, [0.406433, 0.406433, 0.107135]),
        (2, 2, 3, [0.047953, 0.181917, 0.690131]),
        (2, 3, 3, [0.158794, 0.602412, 0.158794]),
    ],
)
def test_the_diagonal_prior_is_that_of_fast_align(j: int, generated: int, given: int, expected: list[float]) -> None:
    assert 0.92 * ibm2.prior(given, generated, 4.0)[:, j - 1] == pytest.approx(expected, abs=5e-7)


class Plain:
    """The model word by word, as its definition reads."""

    def __init__(self, pairs: list[tuple[list[str], list[str]]], settings: Settings):
        self.pairs, self.settings = pairs, settings
        self.table: dict[tuple[str | None, str], float] = {}
        self.tension = settings.tension

    def prior(self, i: int, n: int, j: int, m: int) -> float:
        weights = [exp(-self.tension * abs((place + 1) / n - (j + 1) / m)) for place in range(n)]
        return weights[i] / sum(weights)

    def scores(self, given: list[str], generated: list[str], j: int) -> list[float]:
        """Of null, then of every place."""
        null, word = self.settings.null, generated[j]
        found = [null * self.table.get((None, word), 1e-9)]
        for i, other in enumerate(given):
            prior = self.prior(i, len(given), j, len(generated))
            found.append((1 - null) * prior * self.table.get((other, word), 1e-9))
        return found

    def iterate(self, optimise: bool) -> None:
        counts: dict[tuple[str | None, str], float] = defaultdict(float)
        distance = 0.0
        for given, generated in self.pairs:
            for j, word in enumerate(generated):
                scores = self.scores(given, generated, j)
                for place, score in enumerate(scores):
                    counts[given[place - 1] if place else None, word] += score / sum(scores)
                    if place:
                        distance += score / sum(scores) * abs(place / len(given) - (j + 1) / len(generated))
        self.normalise(counts)
        if optimise:
            self.optimise(distance)

    def normalise(self, counts: dict[tuple[str | None, str], float]) -> None:
        totals: dict[str | None, float] = defaultdict(float)
        for (given, _), count in counts.items():
            totals[given] += count + self.settings.alpha
        self.table = {
            (given, word): exp(psi(count + self.settings.alpha) - psi(totals[given]))
            for (given, word), count in counts.items()
        }

    def optimise(self, distance: float) -> None:
        words = sum(len(generated) for _, generated in self.pairs)
        for _ in range(8):
            model = 0.0
            for given, generated in self.pairs:
                n, m = len(given), len(generated)
                for j in range(m):
                    model += sum(self.prior(i, n, j, m) * abs((i + 1) / n - (j + 1) / m) for i in range(n))
            self.tension = min(max(self.tension + 20 * (model / words - distance / words), 0.1), 14)


def trained(
    sources: list[list[str]], targets: list[list[str]], direction: Direction, settings: Settings
) -> tuple[Lexicon, Table]:
    """The vectorised model after the iterations that train."""
    bitext, lexicon = encode(sources, targets)
    table = ibm2.uniform(lexicon, direction, settings.tension)
    given = lexicon.words_of_pairs()[0 if direction == "forward" else 1]
    shapes = [(n, m) if direction == "forward" else (m, n) for n, m, _ in bitext.shapes.tolist()]
    lengths = dict(zip(shapes, bitext.shapes[:, 2].tolist(), strict=True))
    for iteration in range(settings.iterations - 1):
        counts = ibm2.expect(bitext, table, direction, settings)
        tension = table.tension
        if iteration and settings.optimise_tension:
            tension = ibm2.optimised(tension, counts.distance, lengths)
        table = ibm2.maximise(counts, given, tension, settings)
    return lexicon, table


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("optimise", [False, True])
def test_it_computes_what_its_definition_says(direction: Direction, optimise: bool) -> None:
    settings = Settings(optimise_tension=optimise, null=0.2, alpha=0.05)
    lower = [[[word.lower() for word in sentence] for sentence in side] for side in TOY]
    plain = Plain(list(zip(*(lower if direction == "forward" else lower[::-1]), strict=True)), settings)
    for iteration in range(4):
        plain.iterate(optimise and iteration > 0)
    lexicon, table = trained(*TOY, direction, settings)
    sources, targets = lexicon.words_of_pairs()
    words = lexicon.target_words if direction == "forward" else lexicon.source_words
    for source, target, probability in zip(sources, targets, table.pairs, strict=True):
        pair = lexicon.source_words[int(source)].as_py(), lexicon.target_words[int(target)].as_py()
        assert probability == pytest.approx(plain.table[pair if direction == "forward" else pair[::-1]], rel=1e-9)
    assert table.null == pytest.approx([plain.table[None, word] for word in words.to_pylist()], rel=1e-9)
    assert table.tension == pytest.approx(plain.tension, rel=1e-9)
    assert (table.tension != 4) == optimise
    links = ibm2.best_links(encode(*TOY)[0], table, direction, settings, 4)
    for row, (given, generated) in enumerate(plain.pairs):
        best = [int(np.argmax(plain.scores(given, generated, j))) for j in range(len(generated))]
        expected = [(i - 1, j) if direction == "forward" else (j, i - 1) for j, i in enumerate(best) if i]
        assert links[row] == sorted(expected)


def test_counts_are_those_of_all_words() -> None:
    bitext, lexicon = encode([["a", "b"], []], [["x", "y", "x"], ["z"]])
    counts = ibm2.expect(bitext, ibm2.uniform(lexicon, "forward", 4.0), "forward", Settings())
    assert counts.pairs.sum() + counts.null.sum() == pytest.approx(3)
    assert counts.null == pytest.approx([0.16, 0.08, 0])  # x, y and z, which no sentence pair has
    assert counts.distance == 0  # not asked for


def test_the_first_of_equal_places_is_linked() -> None:
    bitext, lexicon = encode([["a", "a"]], [["x"]])
    table = Table(np.ones(len(lexicon.pairs)), np.ones(1), 0.0)
    assert ibm2.best_links(bitext, table, "forward", Settings(), 1) == [[(0, 0)]]
    assert ibm2.best_links(bitext, table, "reverse", Settings(), 1) == [[(0, 0), (1, 0)]]


def test_a_link_is_more_probable_than_null() -> None:
    bitext = encode([["a"]], [["x"]])[0]
    even = Settings(null=0.5)
    assert ibm2.best_links(bitext, Table(np.ones(1), np.ones(1), 4.0), "forward", even, 1) == [[]]
    assert ibm2.best_links(bitext, Table(np.ones(1), np.array([0.99]), 4.0), "forward", even, 1) == [[(0, 0)]]


@hypothesis.settings(max_examples=25, deadline=None)
@hypothesis.given(hypothesis.strategies.floats(0.5, 10))
def test_the_tension_finds_the_distance_that_it_made(truth: float) -> None:
    lengths = {(5, 6): 3, (12, 9): 2, (1, 4): 1}
    made = sum(
        count * float((ibm2.prior(*shape, truth) * ibm2.distances(*shape)).sum()) for shape, count in lengths.items()
    )
    found = 4.0
    for _ in range(40):
        found = ibm2.optimised(found, made, lengths)
    assert found == pytest.approx(truth, rel=1e-3)
    assert ibm2.optimised(4.0, 0.0, {(9, 9): 1}) <= 14 and ibm2.optimised(0.2, 9.0, {(9, 9): 1}) == 0.1
