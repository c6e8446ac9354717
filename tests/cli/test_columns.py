"""The columns of tables: by name in any case, else by content, and left open where it does."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from augury.cli.columns import Columns, by_content, by_name, check_chosen
from augury.corpora.tables import column_names

SENTENCES = [f"The film number {number} is long" for number in range(40)]
OTHERS = [f"A book of {number} pages" for number in range(40)]
LABELS = ["good", "bad"] * 20
IDS = [f"r-{number}" for number in range(40)]


@pytest.mark.parametrize(
    ("names", "required", "expected"),
    [
        (["id", "Sentence", "LABEL"], ["text", "label"], ["Sentence", "LABEL"]),
        (
            ["label", "premise", "hypothesis"],
            ["sentence1", "sentence2", "label"],
            ["premise", "hypothesis", "label"],
        ),
        (
            ["sentence1", "sentence2", "gold_label"],
            ["premise", "hypothesis", "label"],
            ["sentence1", "sentence2", "gold_label"],
        ),
        (["text", "stars"], ["text", "label"], None),
    ],
)
def test_columns_have_common_names(
    names: list[str], required: list[str], expected: list[str] | None
) -> None:
    assert by_name(names, required) == expected


def content(path: Path, header: Sequence[str] | None, *columns: Sequence[str]) -> Columns | None:
    layout = path.suffix[1:]
    rows = list(zip(*columns, strict=True))
    with path.open("w", newline="") as file:
        if layout == "jsonl":
            assert header
            file.writelines(
                json.dumps({**dict(zip(header, row, strict=True)), "score": 0.5}) + "\n"
                for row in rows
            )
        else:
            delimiter = {"tsv": "\t", "csv": ","}[layout]
            csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(
                [*([header] if header else []), *rows]
            )
    return by_content(str(path), layout, column_names(str(path), layout))


@pytest.mark.parametrize("layout", ["tsv", "csv", "jsonl"])
def test_a_label_has_few_values_and_a_sentence_several_words(layout: str, tmp_path: Path) -> None:
    path, names = tmp_path / f"a.{layout}", ["id", "stars", "comment"]
    assert content(path, names, IDS, LABELS, SENTENCES) == Columns(["comment", "stars"], [])
    names = ["mood", "one", "two"]
    assert content(path, names, LABELS, SENTENCES, OTHERS) == Columns(["one", "two", "mood"], [])


def test_a_first_line_with_one_of_the_labels_is_no_header(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    assert content(path, None, LABELS, IDS, SENTENCES) == Columns(
        ["text", "label"], ["label", "column2", "text"]
    )
    assert content(path, None, SENTENCES, OTHERS, LABELS) == Columns(
        ["sentence1", "sentence2", "label"], ["sentence1", "sentence2", "label"]
    )


def test_it_is_left_open_where_several_columns_may_be_labels(tmp_path: Path) -> None:
    genres = ["news", "blog", "news", "blog"] * 10
    path = tmp_path / "a.csv"
    assert content(path, ["genre", "stars", "words"], genres, LABELS, SENTENCES) is None
    assert content(path, ["genre", "class", "words"], genres, LABELS, SENTENCES) == Columns(
        ["words", "class"], []
    )
    assert content(path, ["a", "b"], IDS, LABELS) is None


def test_sentences_of_scripts_without_spaces_are_sentences(tmp_path: Path) -> None:
    texts = [f"这部电影第{number}号很长" for number in range(40)]
    assert content(tmp_path / "a.tsv", ["a", "b"], texts, LABELS) == Columns(["a", "b"], [])


def test_sentences_that_repeat_beside_many_labels_are_not_taken_for_swapped(
    tmp_path: Path,
) -> None:
    table = tmp_path / "intents.csv"
    rows = [f"request {place % 5},intent {place % 20}" for place in range(60)]
    table.write_text("\n".join(["request,intent", *rows]) + "\n")
    names = ["request", "intent"]
    check_chosen(str(table), "csv", names, names, labelled=True)
