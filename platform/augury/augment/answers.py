"""Answers of a language model: the columns that they fill, and the reasons to leave some out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa
from pydantic import Field

from augury.augment.models import ReadyModel
from augury.augment.operator import MadeOf, Operator, OperatorOutput, derive_records
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


@dataclass
class Answer:
    """A record with what an answer fills, or the reason why it becomes none."""

    row: int
    """The row of its parent in a block."""
    parent: Mapping[str, Any]
    """The columns of its parent that prompts read, with the label that was asked for."""
    texts: dict[str, str] = field(default_factory=dict)
    """The columns that are filled."""
    reason: str = ""
    copy: int = 1

    @property
    def record(self) -> dict[str, Any]:
        """The columns of the new record that prompts read."""
        return {**self.parent, **self.texts}


def new_records(
    operator: Operator,
    block: pa.Table,
    answers: Sequence[Answer],
    changed: Sequence[str],
    counts: Mapping[str, int],
    made_from: str,
) -> OperatorOutput:
    """Return the records, with `changed` columns, of a block's answers that have no reason."""
    kept = [answer for answer in answers if not answer.reason]
    records = derive_records(
        block,
        operator,
        [answer.copy for answer in kept],
        rows=[answer.row for answer in kept],
        **{name: [answer.record[name] for answer in kept] for name in changed},
    )
    made_of = {
        name: MadeOf(pa.array([answer.parent[name] for answer in kept], pa.string()), name)
        for name in sentence_columns(changed)
    }
    return OperatorOutput(records, counts, [made_from], made_of)


def read_answers(
    outputs: Sequence[str | None],
    parents: Mapping[int, Mapping[str, Any]],
    pattern: str,
    filters: AnswerFilters,
    corpus: Corpus,
    labels: Sequence[str],
    copy: int = 1,
) -> list[Answer]:
    """Return what the outputs of a model, one for each row of a block, fill of new records.

    `parents` are those of the rows for which there was a prompt; an output is None where it was too
    long for the model. The named groups of the regular expression `pattern` are the columns, which
    are cleaned like the training text `corpus`; `labels` are its own.
    """
    answers = [Answer(row, parent, copy=copy) for row, parent in parents.items()]
    for answer in answers:
        output = outputs[answer.row]
        if output is None:
            answer.reason = TOO_LONG
        elif not output.strip():
            answer.reason = EMPTY
        elif match := re.search(pattern, output):
            answer.texts = {column: text or "" for column, text in match.groupdict().items()}
        else:
            answer.reason = UNPARSED
    parsed = [answer for answer in answers if not answer.reason]
    for column in re.compile(pattern).groupindex:
        texts = cleaned_like(corpus, [answer.texts[column] for answer in parsed])
        for answer, text in zip(parsed, texts, strict=True):
            answer.texts[column] = text
    for answer in parsed:
        answer.reason = _fault(answer.parent, answer.texts, filters, labels)
    return answers


def _fault(
    parent: Mapping[str, Any],
    texts: Mapping[str, str],
    filters: AnswerFilters,
    labels: Sequence[str],
) -> str:
    """Return the first reason to leave out what an answer fills; empty where there is none."""
    columns = [*parent]
    if not all(texts.values()):
        return EMPTY
    if LABEL in texts and texts[LABEL] not in labels:
        return UNKNOWN_LABEL
    sentences = {name: texts[name] for name in sentence_columns([*texts])}
    own = {_folded(parent[name]) for name in sentence_columns(columns)}
    if filters.copied and sentences and own.issuperset(map(_folded, sentences.values())):
        return COPIED
    for name, text in sentences.items():
        ratio, most = len(text) / max(1, len(parent[name])), filters.length_ratio
        if most is not None and not 1 / most <= ratio <= most:
            return LENGTH
        kind = next(
            kind for kind in KINDS.values() if name in kind.sentences and kind.language in columns
        )
        language = kind.target_language if name == kind.target else kind.language
        if filters.language and is_foreign(text, parent[language]):
            return FOREIGN
    return ""


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
