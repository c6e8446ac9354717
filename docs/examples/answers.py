"""A kind of corpus of one's own: questions and their answers in one language, from tables."""

from augury.corpora.corpus import KINDS, Kind
from augury.corpora.spec import BaseSpec

KIND = Kind(
    "answers",
    noun="questions",
    sentences=("question", "answer"),
    inputs=("question",),
    target="answer",
)
KINDS[KIND.name] = KIND


class AnswersSpec(BaseSpec, kind=KIND):
    """The section `corpus` of a task's experiments: `language`, `train`, `valid` and `tests`, with
    tables with the columns `question` and `answer`."""
