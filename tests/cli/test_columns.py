"""The columns of tables: by name in any case, else by content, and left open where it does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from augury.cli.columns import Columns, Table, by_content, task_of

SENTENCES = [f"The film number {number} is long" for number in range(40)]
OTHERS = [f"A book of {number} pages" for number in range(40)]
CHINESE = [f"这部电影第{number}号很长" for number in range(40)]
LABELS = ["good", "bad"] * 20
GENRES = ["news", "blog", "news", "blog"] * 10
IDS = [f"r-{number}" for number in range(40)]


@pytest.mark.parametrize("layout", ["tsv", "jsonl"])
@pytest.mark.parametrize(
    ("names", "columns", "found"),
    [
        (["id", "stars", "words"], [IDS, LABELS, SENTENCES], ["words", "stars"]),
        (["mood", "one", "two"], [LABELS, SENTENCES, OTHERS], ["one", "two", "mood"]),
        (["genre", "stars", "words"], [GENRES, LABELS, SENTENCES], None),
        (None, [SENTENCES[:6], LABELS[:6]], ["text", "label"]),  # few rows
        (["a", "b"], [CHINESE, LABELS], ["a", "b"]),
        (None, [SENTENCES, OTHERS, LABELS], ["sentence1", "sentence2", "label"]),
    ],
)
def test_a_label_has_few_values_and_a_sentence_several_words(
    layout: str,
    names: list[str] | None,
    columns: list[Sequence[str]],
    found: list[str] | None,
    tmp_path: Path,
) -> None:
    """A first line with one of the labels is no header; several columns may be labels."""
    path, rows = tmp_path / f"a.{layout}", list(zip(*columns, strict=True))
    if layout == "jsonl":
        if names is None:
            return
        records = [{**dict(zip(names, row, strict=True)), "score": 0.5} for row in rows]
        path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    else:
        lines = ["\t".join(row) for row in ([names, *rows] if names else rows)]
        path.write_text("\n".join(lines) + "\n")
    content = by_content(Table(str(path)), labelled=True)
    if found is None or names:
        assert content == (found and Columns(found, []))
    else:
        assert content == Columns(found, found)


@pytest.mark.parametrize("codes", [["en", "de"], ["translation.en", "translation.de"]])
def test_columns_called_by_languages_are_to_translate(codes: list[str], tmp_path: Path) -> None:
    """Whatever other columns there are."""
    path, rows = tmp_path / "a.tsv", zip(GENRES, SENTENCES, OTHERS, strict=True)
    path.write_text("\n".join("\t".join(row) for row in [("genre", *codes), *rows]) + "\n")
    table = Table(str(path))
    assert task_of(table) == "nmt"
    assert by_content(table, labelled=False) == Columns(codes, [])


def test_columns_that_are_chosen_decide_whatever_others_are_called(tmp_path: Path) -> None:
    path, names = tmp_path / "a.tsv", ["text", "label", "de", "en"]
    rows = [names, *zip(OTHERS, LABELS, SENTENCES, OTHERS, strict=True)]
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    table = Table(str(path))
    tasks = [
        task_of(table, chosen) for chosen in (["de", "en"], ["text", "label"], ["de", "label"])
    ]
    assert tasks == ["nmt", "classification", "classification"]


@pytest.mark.parametrize(
    ("last", "values", "task"), [("en", OTHERS, "nmt"), ("label", LABELS, "classification")]
)
def test_an_id_is_no_indonesian(last: str, values: list[str], task: str, tmp_path: Path) -> None:
    path, names = tmp_path / "a.tsv", ["id", "german" if last == "en" else "de", last]
    rows = [names, *zip(IDS, SENTENCES, values, strict=True)]
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    table = Table(str(path))
    assert task_of(table) == task
    assert by_content(table, labelled=last == "label") == Columns(names[1:], [])
