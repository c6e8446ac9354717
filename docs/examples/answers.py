"""A kind of corpus of one's own: questions and their answers in one language, from tables."""

from typing import Any, ClassVar

import pyarrow as pa

from augury.corpora.corpus import CorpusKind
from augury.corpora.labelled import LabelledFilter
from augury.corpora.languages import LanguageCode
from augury.corpora.records import RecordBuilder
from augury.corpora.splits import BaseSpec
from augury.corpora.text_settings import BaseText

KIND = CorpusKind(
    "answers",
    ("id", "question", "answer", "language", "origin"),
    noun="questions",
    sentences=("question", "answer"),
    inputs=("question",),
    language="language",
    target="answer",
    target_language="language",
)


class AnswersText(BaseText):
    """A table with a column of questions and one of answers."""

    question_column: str = "question"
    answer_column: str = "answer"

    COLUMNS: ClassVar = ("question", "answer")
    ALTERNATIVES: ClassVar = "file, or hub"


class AnswersSpec(BaseSpec):
    """A corpus of questions and answers: the section `corpus` of a task's experiments."""

    language: LanguageCode
    train: AnswersText | None = None
    valid: AnswersText | None = None
    tests: dict[str, AnswersText] = {}
    filter: LabelledFilter | None = None

    TEXT: ClassVar = AnswersText
    FILTER: ClassVar = LabelledFilter
    KIND: ClassVar = KIND
    KNOWN: ClassVar = {}

    def languages_of(self, split: str) -> tuple[str, ...]:
        return (self.language,)

    def language_codes(self) -> dict[str, str]:
        return {"language": self.language}


class AnswersBuilder(RecordBuilder):
    """Builds the records; `ingest` finds it by TEXT."""

    KIND, TEXT = KIND, AnswersText
    STEP, CODE, LIMITS = "ingest answers", 1, "max_length"

    def manifest_entries(self) -> dict[str, Any]:
        return {"language": self.split.languages[0]}

    def _columns(self, block: pa.Table) -> list[pa.Array]:
        return [pa.repeat(self.split.languages[0], len(block))]
