"""Links: combined, read, and the word order that they give."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.text.alignment.links import (
    Anchor,
    Link,
    coverage,
    permutation,
    read_pharaoh,
    symmetrise,
)

links = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


def parse(text: str) -> list[Link]:
    return read_pharaoh(text, "here")


@pytest.mark.parametrize("text", ["0-", "a-b", "1", "-1-2", "0-1-2", "①-0", "0–1"])
def test_what_is_no_link_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="here: "):
        read_pharaoh(f"0-0 {text}", "here")


@pytest.mark.parametrize(
    ("forward", "reverse", "expected"),
    [
        ("0-0 1-1", "0-0 2-1", "0-0 1-1 2-1"),
        ("0-0 3-3", "0-0", "0-0 3-3"),
        ("", "", ""),
        ("1-1", "2-2", "1-1 2-2"),  # nothing to grow from: both are free
        ("1-1", "1-2", "1-1"),  # the reverse link finds its source word taken
        ("0-0 2-0", "0-0", "0-0"),  # 2-0 touches no link, and its target word is taken
        ("0-0 1-1 1-0", "0-0 1-1", "0-0 1-1"),  # 1-0 touches both, and links no new word
        ("0-0 2-0", "0-0 1-1", "0-0 1-1 2-0"),  # 1-1 touches 0-0, and 2-0 then touches 1-1
        ("0-0 1-2", "0-0 0-1", "0-0 0-1 1-2"),  # 0-1 is accepted first, and 1-2 touches it
        ("0-0 3-0", "0-0 1-1 2-1", "0-0 1-1 2-1 3-0"),  # as 2-1 is accepted, 3-0 touches it
        (
            "2-2 0-1",
            "2-2 1-1",
            "0-1 1-1 2-2",
        ),  # 0-1 comes before 1-1, which it touches: a second pass
    ],
)
def test_grow_diag_final_and(forward: str, reverse: str, expected: str) -> None:
    assert symmetrise(parse(forward), parse(reverse)) == parse(expected)


def test_intersection_and_union_are_sorted() -> None:
    forward, reverse = [(2, 0), (0, 1), (1, 1)], [(1, 1), (2, 0), (0, 0)]
    assert symmetrise(forward, reverse, "intersection") == [(1, 1), (2, 0)]
    assert symmetrise(forward, reverse, "union") == [(0, 0), (0, 1), (1, 1), (2, 0)]


@settings(max_examples=100, deadline=None)
@given(links, links)
def test_grow_diag_final_and_lies_between_both_and_links_whatever_it_can(
    forward: set[Link], reverse: set[Link]
) -> None:
    merged = set(symmetrise(forward, reverse))
    assert forward & reverse <= merged <= forward | reverse
    sources, targets = {i for i, _ in merged}, {j for _, j in merged}
    assert all(i in sources or j in targets for i, j in forward | reverse)


def reordered(source: str, links: str, anchor: Anchor = "min") -> str:
    words = source.split()
    return " ".join(words[index] for index in permutation(words, parse(links), anchor))


@pytest.mark.parametrize(
    ("source", "links", "expected"),
    [
        (
            "but now the hero has fallen .",
            "0-0 1-1 2-3 3-4 4-2 5-5 6-6",
            "but now has the hero fallen .",
        ),
        (
            "new models are being tested .",
            "0-0 1-1 2-2 3-2 4-3 5-4",
            "new models are being tested .",
        ),
        ("but we lack new resources .", "0-0 1-2 2-1 3-3 4-4 5-5", "but lack we new resources ."),
        ("i have not seen the film .", "0-0 1-1 2-4 3-5 4-2 5-3 6-6", "i have the film not seen ."),
        ("oh the man sleeps", "2-1 3-0", "sleeps oh the man"),
        ("well , the man sleeps", "0-0 3-2 4-1", "well , sleeps the man"),
        ("( the man ) sleeps", "2-1 4-0", "sleeps ( the man )"),
        ("a b c", "", "a b c"),
        ("", "", ""),
    ],
)
def test_the_order_of_the_target(source: str, links: str, expected: str) -> None:
    assert reordered(source, links) == expected


@pytest.mark.parametrize(
    ("anchor", "expected"),
    [
        ("min", "yesterday called he me up ."),
        ("mean", "yesterday he called me up ."),
        ("max", "yesterday he me called up ."),
    ],
)
def test_the_anchor_of_a_word_with_several_links(anchor: Anchor, expected: str) -> None:
    assert (
        reordered("he called me up yesterday .", "0-2 1-1 1-4 2-3 3-4 4-0 5-5", anchor) == expected
    )


@st.composite
def linked(draw: st.DrawFn) -> tuple[list[str], set[Link]]:
    words = draw(st.lists(st.sampled_from(["a", "b", ",", ".", "7", "c-d"]), max_size=9))
    link = st.tuples(st.integers(0, max(0, len(words) - 1)), st.integers(0, 9))
    return words, draw(st.sets(link, max_size=12)) if words else set()


@settings(max_examples=200, deadline=None)
@given(linked(), st.sampled_from(get_args(Anchor)))
def test_the_result_is_a_permutation_that_sorts_linked_words(
    pair: tuple[list[str], set[Link]], anchor: Anchor
) -> None:
    words, links = pair
    order = permutation(words, links, anchor)
    assert sorted(order) == list(range(len(words)))
    one_target = [index for index in order if sum(source == index for source, _ in links) == 1]
    targets = [target for index in one_target for source, target in links if source == index]
    assert targets == sorted(targets)


def test_coverage_is_the_share_of_words_that_are_linked() -> None:
    words = ["well", ",", "the", "man", "sleeps", "."]
    assert coverage(words, parse("0-0 1-1 3-2 3-3 5-4")) == 0.5
    assert coverage(words, []) == 0
    assert coverage([",", "."], parse("0-0")) == 0


def test_an_unknown_anchor_is_an_error() -> None:
    with pytest.raises(UserError, match="unknown anchor 'men': did you mean 'mean'?"):
        permutation(["a"], [], "men")  # type: ignore[arg-type]
