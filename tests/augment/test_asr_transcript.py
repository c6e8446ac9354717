"""Transcripts of speech as sources: from a file, filtered by length, with their
word error rate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from augury.augment import operator, pipeline
from augury.augment.asr_transcript import AsrTranscript
from augury.augment.pipeline import Augmented
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.ingest import ingest
from augury.corpora.spec import CorpusSpec
from tests.augment import texts

SAID = [
    "Hello, my friends [laughter]",
    "We all went home",
    "Nothing",
    "(Applause) Thank you so much",
]
HEARD = ["hello my friend", "we home", "", "thank you so match"]
WRITTEN = ["Bonjour mes amis (Rires)", "Nous sommes rentrés", "Rien", "Merci beaucoup"]


def augmented(
    folder: Path,
    heard: Sequence[str] = HEARD,
    said: Sequence[str] = SAID,
    language: str = "en",
    **settings: Any,
) -> Augmented:
    for name, lines in (("said", said), ("heard", heard), ("written", WRITTEN)):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    spec = CorpusSpec.model_validate(
        {
            "source_language": language,
            "target_language": "fr",
            "train": {"source": str(folder / "said"), "target": str(folder / "written")},
            "filter": {"max_ratio": None},
        }
    )
    parameters = {"operator": "asr_transcript", "transcripts": str(folder / "heard"), **settings}
    store = Store(folder / "store")
    return pipeline.augment(ingest(spec, "train", store), [operator.parse(parameters)], store)


def pairs(result: Augmented) -> list[tuple[str, str]]:
    (part,) = result.parts
    return [(row["source"], row["target"]) for row in texts.rows_of(part)]


@pytest.mark.parametrize(
    ("said", "heard", "kept"),
    [(15, 10, [1.5]), (16, 10, []), (12, 10, [1.5, 1.2]), (13, 10, [1.5]), (3, 0, [])],
)
def test_golden_ratios(said: int, heard: int, kept: list[float]) -> None:
    """Words of the human transcript and of the recogniser's, and the limits that keep the pair."""
    triple = " ".join(["w"] * said), " ".join(["w"] * heard), "t"
    operators = [AsrTranscript(transcripts="x", max_ratio=limit) for limit in (1.5, 1.2)]
    assert [operator.max_ratio for operator in operators if not operator._fault(*triple)] == kept


def test_pairs_are_transcripts_and_translations_and_all_others_are_counted(tmp_path: Path) -> None:
    result = augmented(tmp_path)
    assert pairs(result) == [(HEARD[0], "Bonjour mes amis"), (HEARD[3], WRITTEN[3])]
    (part,) = result.parts
    counts = part.folder.manifest()["counts"]
    assert counts["rejected, no transcript"] == 1 and counts["rejected, length ratio"] == 1
    rows = texts.rows_of(part)
    assert [(row["id"], row["lineage"]["parents"]) for row in rows] == [
        (f"train-{row:08d}/asr_transcript-1", [f"train-{row:08d}"]) for row in (1, 4)
    ]


def test_error_rates_are_those_of_the_transcripts_kept(tmp_path: Path) -> None:
    (part,) = augmented(tmp_path, max_ratio=1.2).parts
    # hello/Hello, my friend/friends · thank/Thank you so match/much: four of seven substituted
    measures = part.operator.measures(part.folder.manifest()["counts"])
    assert measures == {"WER": pytest.approx(4 / 7), "WRR": pytest.approx(3 / 7)}


def test_errors_are_counted_by_characters_in_languages_without_spaces(tmp_path: Path) -> None:
    said = [f"{what}いい天気だ" for what in "今昨明毎"]
    heard = [line.replace("天", "電") for line in said]
    (part,) = augmented(tmp_path, heard, said, "ja").parts
    assert part.health.measures["WER"] == pytest.approx(1 / 6)


def test_indicator_words_are_dropped_from_all_texts(tmp_path: Path) -> None:
    result = augmented(tmp_path, ["hello my [noise] friend", *HEARD[1:]])
    assert pairs(result)[0] == ("hello my friend", "Bonjour mes amis")


def test_rows_that_cannot_belong_together_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="3 rows and the training text 4"):
        augmented(tmp_path, HEARD[:2] + ["x"])
