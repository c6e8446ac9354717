"""The columns of somebody's table that hold the texts and labels of a task, by name, else by
content, and the task that they are for."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from augury.core.errors import UserError
from augury.corpora.corpus import LABELS
from augury.corpora.files import examine
from augury.corpora.languages import languages
from augury.corpora.tables import NotText, class_names, column_names, read_table
from augury.corpora.text_settings import table_layout

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
REPEATED, REPEATED_IF_FEW, FEW = 4, 2, 10
"""The rows that share a label, in the mean, at least; and so many where labels are few."""
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


class Table:
    """A table of the user's: the names of its columns, and their first values."""

    def __init__(self, file: str):
        self.file = file
        self.layout = table_layout(file)
        if self.layout != "parquet":
            examine(file)
        self.names = column_names(file, self.layout)

    def rows(self) -> dict[int, list[str]]:
        """Return the first values of every column with text, by its place; the first one may be
        its name."""
        places = [str(place) for place in range(len(self.names))]
        if self.layout in HEADED:  # the first line may be a row, and its values may be equal
            block = next(read_table(self.file, self.layout, places, places)).slice(0, SAMPLE)
            return {place: block.column(place).to_pylist() for place in range(len(places))}
        rows = {}
        for place, name in enumerate(self.names):
            try:
                block = next(read_table(self.file, self.layout, [name], sparse=True), None)
            except NotText:
                continue
            if block is None:
                raise UserError(f"{self.file} has no rows: give a table with rows")
            rows[place] = [name, *block.slice(0, SAMPLE).column(name).to_pylist()]
        return rows


def by_name(names: Sequence[str], required: Sequence[str]) -> list[str] | None:
    """Return the columns with common names for the `required` ones; None unless all are there."""
    known = {name.lower(): name for name in reversed(names)}
    chosen = []
    for column in required:
        chosen += [known[name] for name in COLUMN_NAMES[column] if name in known][:1]
    return chosen if len(set(chosen)) == len(required) else None


def language_code(name: str) -> str | None:
    """Return the code of a language that a column is called by, `de` or `translation.de`; None for
    other names."""
    code = name.rpartition(".")[2]
    return code if code in languages().names else None


def by_content(table: Table, labelled: bool) -> Columns | None:
    """Return the columns of one or two sentences, then that of their label; of pairs to translate,
    those of source and target. None where the content leaves open which they are.

    A label is short and has few values, a sentence has several words and is seldom repeated. A
    first line whose label is one of the others' is no header, and one of sentences is none.
    """
    names, rows = table.names, table.rows()
    sentences = _sentences(rows)
    if labelled:
        labels = [place for place, values in rows.items() if _are_labels(values[1:])]
        sentences = [place for place in sentences if place not in labels]
        if named := by_name([names[place] for place in labels], ["label"]):
            labels = [names.index(named[0])]
        if len(labels) != 1 or len(sentences) not in (1, 2):
            return None
        roles = ["text", "label"] if len(sentences) == 1 else ["sentence1", "sentence2", "label"]
        places = [*sentences, *labels]
        first, *others = rows[labels[0]]
        headed = first not in others
    else:
        coded = _called_by_language(table, sentences)
        if len(coded) == 2:
            return Columns(coded, [])
        if len(sentences) != 2:
            return None
        roles, places = ["source", "target"], sentences
        headed = any(_words(names[place]) <= LONGEST_NAME for place in places)
    if headed or table.layout not in HEADED:
        return Columns([names[place] for place in places], [])
    header = [f"column{place}" for place in range(1, len(names) + 1)]
    for place, role in zip(places, roles, strict=True):
        header[place] = role
    return Columns(roles, header)


def task_of(table: Table, chosen: Sequence[str] = ()) -> str:
    """Return the task that a table is for: `nli` with labels of inference for pairs of sentences,
    `classification` with other labels, else `nmt`; `chosen` are its columns, where they are known.
    """
    pairs = (["premise", "hypothesis", "label"], ["sentence1", "sentence2", "label"])
    by_names = (by_name(table.names, names) for names in (*pairs, ["text", "label"]))
    named = next(filter(None, by_names), [])
    columns, header = list(chosen) or named, table.names
    if not columns:
        if len(_called_by_language(table, _sentences(table.rows()))) == 2:
            return "nmt"
        if content := by_content(table, labelled=True):
            columns, header = content.names, content.header or header
    if not columns or columns[-1] not in header:
        return "nmt"
    values = table.rows().get(header.index(columns[-1]), [])[1:]
    if columns[-1:] != named[-1:] and not _are_labels(values):
        return "nmt"
    classes = class_names(table.file, columns[-1]) if table.layout == "parquet" else ()
    labels = {label.strip().lower() for label in classes or values}
    numbers = columns[:1] == ["premise"] and "2" in labels and labels <= INFERENCE_NUMBERS
    return "nli" if len(columns) == 3 and (labels <= INFERENCE or numbers) else "classification"


def _are_labels(values: Sequence[str]) -> bool:
    counts = Counter(value for value in values if value.strip())
    rows = REPEATED_IF_FEW if len(counts) <= FEW else REPEATED
    return 1 < len(counts) <= counts.total() / rows and max(map(len, counts)) <= LONGEST_LABEL


def _called_by_language(table: Table, sentences: Sequence[int]) -> list[str]:
    """Return the columns that are called by languages; only sentences, where there are any: `id` is
    seldom Indonesian."""
    places = sentences or range(len(table.names))
    return [table.names[place] for place in places if language_code(table.names[place])]


def _sentences(rows: Mapping[int, Sequence[str]]) -> list[int]:
    return [place for place, values in rows.items() if _are_sentences(values[1:])]


def _are_sentences(values: Sequence[str]) -> bool:
    words = sum(map(_words, values)) / max(1, len(values))
    return words >= 2 and len(set(values)) > len(values) / REPEATED


def _words(text: str) -> int:
    """Return the number of words with letters; in scripts without capitals, which may be without
    spaces too, of such letters."""
    if any(unicodedata.category(character) == "Lo" for character in text[:10]):
        return sum(map(str.isalpha, text))
    return sum(any(map(str.isalpha, word)) for word in text.split())
