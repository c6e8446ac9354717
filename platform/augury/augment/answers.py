"""Answers of a language model: the columns that they fill, and the reasons to leave some out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from augury.augment.models import ReadyModel
from augury.augment.translation import cleaned_like
from augury.core.config import ModelName, Section
from augury.corpora.corpus import KINDS, Corpus, sentence_columns
from augury.corpora.identification import is_foreign
from augury.corpora.labels import LABEL

TOO_LONG, EMPTY, UNPARSED = "prompt too long", "empty", "answer of another form"
UNKNOWN_LABEL, COPIED, LENGTH, FOREIGN = "unknown label", "copied", "length ratio", "language"
DISAGREED, REPEATED = "teacher", "there already"
"""Reasons for which an answer becomes no record."""


class AnswerFilters(Section):
    """What an answer must be to become a record; those left out are counted by reason."""

    copied: bool = True
    """Leave out answers whose sentences all are sentences of the record that they were made for, up
    to case and spaces."""
    length_ratio: float | None = Field(3.0, ge=1)
    """The maximum factor by which a sentence is longer or shorter, in characters, than the record's
    own in the same column; null: no maximum."""
    language: bool = True
    """Leave out sentences that are clearly of another language than their column: most letters are
    of another script, or several words are among the most common ones of another language."""
    repeated: bool = True
    """Leave out records that the training text has, or that another answer made."""
    teacher: Literal["baseline"] | ModelName | ReadyModel | None = None
    """A classifier whose likeliest label must be the record's: baseline trains the plain baseline
    of the experiment (seed 1); or a checkpoint, by path or name, or {run: ...}."""
    min_probability: float = Field(0.0, ge=0, le=1)
    """The minimum probability of the label by the teacher."""

    def inactive(self) -> dict[str, str]:
        return {} if self.teacher else {"min_probability": "there is no teacher"}


@dataclass
class Answer:
    """A record with what an answer fills, or the reason why it becomes none."""

    row: int
    """The row of its parent in a block."""
    parent: Mapping[str, Any]
    texts: Mapping[str, str]
    """The columns that are filled."""
    reason: str = ""

    @property
    def record(self) -> dict[str, Any]:
        """The columns of the new record that prompts read."""
        return {**self.parent, **self.texts}


@dataclass(frozen=True)
class AnswerReader:
    """Reads answers as columns of records, and applies the filters that need no model."""

    pattern: str
    """A regular expression whose named groups are the columns."""
    filters: AnswerFilters
    corpus: Corpus
    """The training text, like which texts are cleaned."""
    labels: tuple[str, ...]
    """The labels of the training text."""

    def read(
        self, parents: Mapping[int, Mapping[str, Any]], outputs: Sequence[str | None]
    ) -> list[Answer]:
        """Return what the outputs of a model, one for each row of a block, fill of new records.

        `parents` are those of the rows for which there was a prompt; an output is None where it was
        too long for the model.
        """
        read = [Answer(row, parent, *self._parse(outputs[row])) for row, parent in parents.items()]
        parsed = [answer for answer in read if not answer.reason]
        for column in re.compile(self.pattern).groupindex:
            texts = cleaned_like(self.corpus, [answer.texts[column] for answer in parsed])
            for answer, text in zip(parsed, texts, strict=True):
                answer.texts = {**answer.texts, column: text}
        for answer in parsed:
            answer.reason = self._fault(answer.parent, answer.texts)
        return read

    def _parse(self, output: str | None) -> tuple[dict[str, str], str]:
        """Return the texts of an output, and the reason if it has none."""
        if output is None:
            return {}, TOO_LONG
        if not output.strip():
            return {}, EMPTY
        match = re.search(self.pattern, output)
        if match is None:
            return {}, UNPARSED
        return {column: text or "" for column, text in match.groupdict().items()}, ""

    def _fault(self, parent: Mapping[str, Any], texts: Mapping[str, str]) -> str:
        """Return the first reason to leave out what an answer fills; empty where there is none."""
        filters, columns = self.filters, list(parent)
        if not all(texts.values()):
            return EMPTY
        if LABEL in texts and texts[LABEL] not in self.labels:
            return UNKNOWN_LABEL
        sentences = {name: texts[name] for name in sentence_columns(list(texts))}
        own = {_folded(parent[name]) for name in sentence_columns(columns)}
        if filters.copied and sentences and own.issuperset(map(_folded, sentences.values())):
            return COPIED
        for name, text in sentences.items():
            ratio, most = len(text) / max(1, len(parent[name])), filters.length_ratio
            if most is not None and not 1 / most <= ratio <= most:
                return LENGTH
            if filters.language and is_foreign(text, parent[_language_column(name, columns)]):
                return FOREIGN
        return ""


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _language_column(name: str, columns: Sequence[str]) -> str:
    """Return the column with the language of a column of sentences."""
    kind = next(
        kind for kind in KINDS.values() if name in kind.sentences and kind.language in columns
    )
    return kind.target_language if name == kind.target else kind.language
