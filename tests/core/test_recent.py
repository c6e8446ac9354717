from __future__ import annotations

from augury.core.recent import LARGE, Recent

PLACE = ("s3://bucket", "corpora/abc")


def test_those_used_longest_ago_make_room() -> None:
    recent = Recent(most_bytes=10)
    for name in "abc":
        recent.keep(PLACE, name, b"1234")
        recent.file(PLACE, "a")
    assert [recent.file(PLACE, name) for name in "abc"] == [b"1234", None, b"1234"]
    recent.keep(PLACE, "a", b"x" * LARGE)
    assert recent.file(PLACE, "a") is None  # what was kept of it is old


def test_a_folder_is_forgotten_with_those_below_and_no_others() -> None:
    recent, names = Recent(), ("runs/a", "runs/a/seed-1", "runs/ab")
    for name in names:
        recent.facts(("root", name))["known"] = True
        recent.keep(("root", name), "file", b"x")
    recent.forget("root", "runs/a")
    assert [bool(recent.facts(("root", name))) for name in names] == [False, False, True]
    assert [recent.file(("root", name), "file") for name in names] == [None, None, b"x"]


def test_a_file_that_is_written_is_forgotten_and_its_neighbours_are_not() -> None:
    recent = Recent()
    recent.keep(PLACE, "a", b"1")
    recent.keep(PLACE, "b", b"2")
    recent.changed(PLACE, "a")
    assert [recent.file(PLACE, name) for name in "ab"] == [None, b"2"]
    assert recent.file(PLACE, "b", seconds=0.0) is None
