from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.text.alignment.symmetrise import Link, symmetrise

links = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


def parse(text: str) -> list[Link]:
    return [
        (int(source), int(target)) for source, target in (link.split("-") for link in text.split())
    ]


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


def test_an_unknown_symmetrisation_is_an_error() -> None:
    with pytest.raises(
        UserError, match="unknown symmetrisation 'intersect': did you mean 'intersection'?"
    ):
        symmetrise([], [], "intersect")  # type: ignore[arg-type]
