from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augury.text.alignment.symmetrise import Link
from augury.text.alignment.word_order import WordOrder, order_of_links, word_order


@pytest.mark.parametrize(
    ("links", "kept", "inverted"),
    [
        ([(0, 0), (1, 1), (2, 2)], 3, 0),
        ([(0, 2), (1, 1), (2, 0)], 0, 3),
        ([(0, 0), (1, 1), (2, 3), (3, 2)], 5, 1),  # I have seen him: ich habe ihn gesehen
        ([(0, 0), (1, 0), (2, 1)], 2, 0),  # two words in one
        ([(0, 3), (0, 0), (1, 1)], 1, 0),  # the first of several
        ([(4, 0)], 0, 0),
    ],
)
def test_golden_orders(links: list[Link], kept: int, inverted: int) -> None:
    assert order_of_links(links) == WordOrder(kept, inverted)


@given(st.permutations(range(7)))
def test_tau_is_that_of_scipy(order: list[int]) -> None:
    from scipy.stats import kendalltau

    measured = order_of_links(list(enumerate(order)))
    assert measured.tau == pytest.approx(kendalltau(range(7), order).statistic)
    assert order_of_links(
        [(place, 6 - target) for place, target in enumerate(order)]
    ).tau == pytest.approx(-measured.tau)


@pytest.fixture(scope="module")
def sentences() -> list[list[str]]:
    """300 sentences of three to eight of 40 words."""
    draw = random.Random(1)
    return [
        draw.sample([f"w{number}" for number in range(40)], draw.randint(3, 8)) for _ in range(300)
    ]


@pytest.mark.parametrize(
    "reorder",
    [
        lambda words: words,
        lambda words: words[::-1],
        lambda words: [words[0], *words[2:], words[1]],
    ],
    ids=["same", "opposite", "second word last"],
)
def test_the_order_of_a_text_is_found(
    reorder: Callable[[list[Any]], list[Any]], sentences: list[list[str]]
) -> None:
    measured = word_order(
        [*map(" ".join, sentences)], [" ".join(reorder(words)) for words in sentences], ("en", "de")
    )
    true = [order_of_links(enumerate(reorder([*range(len(words))]))) for words in sentences]
    kept, inverted = sum(order.kept for order in true), sum(order.inverted for order in true)
    assert measured.distance == pytest.approx(inverted / (kept + inverted), abs=0.01)


@pytest.mark.slow
def test_turkish_is_farther_from_english_than_german_and_german_than_french(data: Path) -> None:
    def column(code: str) -> list[str]:
        with gzip.open(data / f"xnli/dev.{code}.tsv.gz", "rt", encoding="utf-8") as file:
            return [line.split("\t")[1] for line in file][1:801]

    english = column("en")
    french, german, turkish = (
        word_order(english, column(code), ("en", code)).distance for code in ("fr", "de", "tr")
    )
    assert french < german < turkish
