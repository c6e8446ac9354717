"""The columns of somebody's table that hold the texts and labels of a task, by name, else by
content, and the task that they are for."""

from __future__ import annotations

import shlex
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from augury.core.errors import UserError
from augury.corpora.corpus import LABELS
from augury.corpora.languages import languages
from augury.corpora.tables import NotText, class_names, column_index, read_table

COLUMN_NAMES: Mapping[str, tuple[str, ...]] = {
    "source": ("source", "src"),
    "target": ("target", "tgt", "trg", "ref"),
    "premise": ("premise", "sentence1"),
    "hypothesis": ("hypothesis", "sentence2"),
    "sentence1": ("sentence1", "premise", "text1", "question1", "sentence_1"),
    "sentence2": ("sentence2", "hypothesis", "text2", "question2", "sentence_2", "text_pair"),
    "text": ("text", "sentence", "content", "review", "tweet", "comment", "utterance"),
    "label": ("label", "gold_label", "labels", "class", "category", "sentiment", "intent"),
}
"""Common names of columns, in lower case."""
SAMPLE = 2_000
"""Rows that columns are told by."""
LONGEST_LABEL = 40
"""In characters."""
HEADED = ("tsv", "csv")
"""Formats whose first line has the names of columns, or is a row."""
REPEATED = 4
"""The rows that share a label, in the mean, at least."""
LONGEST_NAME = 3
"""In words."""
INFERENCE = {*LABELS, "-", ""}
"""Labels of inference, and of sentences without one."""
INFERENCE_NUMBERS = {"-1", "0", "1", "2"}
"""Those of SNLI and others, whose columns are called premise and hypothesis."""


@dataclass(frozen=True)
class Columns:
    """The columns of a table for those of a task."""

    names: list[str]
    header: list[str]
    """All columns of a table without a header line; empty for one that has names."""


def by_name(names: Sequence[str], required: Sequence[str]) -> list[str] | None:
    """Return the columns with common names for the `required` ones; None unless all are there."""
    known = {name.lower(): name for name in reversed(names)}
    matches = [
        next((known[name] for name in COLUMN_NAMES[column] if name in known), None)
        for column in required
    ]
    chosen = [name for name in matches if name]
    return chosen if len(set(chosen)) == len(required) else None


def by_content(table: str, layout: str, names: Sequence[str]) -> Columns | None:
    """Return the columns of one or two sentences, then that of their label; None where the content
    leaves open which they are.

    A label is short and has few values, a sentence has several words and is seldom repeated. A
    first line whose label is one of the others' is no header.
    """
    rows = _rows(table, layout, names)
    labels = [place for place, values in rows.items() if _are_labels(values[1:])]
    if named := by_name([names[place] for place in labels], ["label"]):
        labels = [names.index(named[0])]
    sentences = [place for place, values in rows.items() if _are_sentences(values[1:])]
    if len(labels) != 1 or len(sentences) not in (1, 2):
        return None
    places, (first, *others) = [*sentences, *labels], rows[labels[0]]
    if layout not in HEADED or first not in others:
        return Columns([names[place] for place in places], [])
    roles = ["text", "label"] if len(sentences) == 1 else ["sentence1", "sentence2", "label"]
    header = [f"column{place}" for place in range(1, len(names) + 1)]
    for place, role in zip(places, roles, strict=True):
        header[place] = role
    return Columns(roles, header)


def pairs_by_content(table: str, layout: str, names: Sequence[str]) -> Columns | None:
    """Return the columns of source and target: those named by language codes, else the only two of
    sentences; None where the content leaves open which they are.

    A first line of sentences is no header.
    """
    if len(coded := [name for name in names if name in languages().names]) == 2:
        return Columns(coded, [])
    rows = _rows(table, layout, names)
    sentences = [place for place, values in rows.items() if _are_sentences(values[1:])]
    if len(sentences) != 2:
        return None
    if layout not in HEADED or any(_words(names[place]) <= LONGEST_NAME for place in sentences):
        return Columns([names[place] for place in sentences], [])
    header = [f"column{place}" for place in range(1, len(names) + 1)]
    roles = ["source", "target"]
    for place, role in zip(sentences, roles, strict=True):
        header[place] = role
    return Columns(roles, header)


def task_of(table: str, layout: str, names: Sequence[str], chosen: Sequence[str] = ()) -> str:
    """Return the task that a table is for: `nli` with labels of inference for pairs of sentences,
    `classification` with other labels, else `nmt`; `chosen` are its columns, where they are known.
    """
    labelled = (["premise", "hypothesis"], ["sentence1", "sentence2"], ["text"])
    named = [columns for texts in labelled if (columns := by_name(names, [*texts, "label"]))]
    content = None if chosen or named else by_content(table, layout, names)
    columns = list(chosen) or (named[0] if named else content.names if content else [])
    headed = content.header if content and content.header else list(names)
    if not columns or columns[-1] not in headed:
        return "nmt"
    values = _rows(table, layout, names).get(headed.index(columns[-1]), [])[1:]
    if not named and not _are_labels(values):
        return "nmt"
    classes = class_names(table, columns[-1]) if layout == "parquet" else ()
    labels = set(classes or values)
    numbers = columns[:1] == ["premise"] and "2" in labels and labels <= INFERENCE_NUMBERS
    return "nli" if len(columns) == 3 and (labels <= INFERENCE or numbers) else "classification"


def check_chosen(
    table: str, layout: str, names: Sequence[str], chosen: Sequence[str], labelled: bool
) -> None:
    """Raise UserError for a column that does not exist or is given twice, and, where the last one
    is to hold labels, for an earlier one that does instead."""
    for column in chosen:
        column_index(table, names, column)
    if repeated := sorted({column for column in chosen if chosen.count(column) > 1}):
        raise UserError(
            f"--columns gives '{repeated[0]}' several times: give a column of {table} for each, "
            f"of {', '.join(names)}"
        )
    if not labelled or not chosen:
        return
    rows = _rows(table, layout, names)
    labels = [name for name in chosen if _are_labels(rows.get(names.index(name), [])[1:])]
    last = rows.get(names.index(chosen[-1]), [])[1:]
    # Labels repeat, however many there are.
    if len(labels) == 1 and labels[0] != chosen[-1] and 2 * len(set(last)) > len(last):
        sentences = [name for name in chosen if name != labels[0]]
        raise UserError(
            f"the columns look swapped: '{labels[0]}' of {table} has few different values, as "
            f"labels have, and labels are the last column: --columns "
            f"{shlex.join([*sentences, labels[0]])}; for pairs to translate add --task nmt"
        )


def _rows(table: str, layout: str, names: Sequence[str]) -> dict[int, list[str]]:
    """Return the name and the first values of every column with text, by its place."""
    places = [str(place) for place in range(len(names))]
    if layout in HEADED:  # the first line may be a row, and its values may be equal
        block = next(read_table(table, layout, places, places)).slice(0, SAMPLE)
        return {place: block.column(place).to_pylist() for place in range(len(names))}
    rows = {}
    for place, name in enumerate(names):
        try:
            block = next(read_table(table, layout, [name], sparse=True), None)
        except NotText:
            continue
        if block is None:
            raise UserError(f"{table} has no rows: give a table with rows")
        rows[place] = [name, *block.slice(0, SAMPLE).column(name).to_pylist()]
    return rows


def _are_labels(values: Sequence[str]) -> bool:
    counts = Counter(values)
    return 1 < len(counts) <= len(values) / REPEATED and max(map(len, counts)) <= LONGEST_LABEL


def _are_sentences(values: Sequence[str]) -> bool:
    words = sum(map(_words, values)) / max(1, len(values))
    return words >= 2 and len(set(values)) > len(values) / REPEATED


def _words(text: str) -> int:
    """Return the number of words with letters; in scripts without capitals, which may be without
    spaces too, of such letters."""
    if any(unicodedata.category(character) == "Lo" for character in text[:10]):
        return sum(map(str.isalpha, text))
    return sum(any(map(str.isalpha, word)) for word in text.split())
