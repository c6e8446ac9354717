"""Kinds of corpora: what every kind says, and one from outside the package, in one file."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from augury.core.store import Store
from augury.corpora.corpus import KINDS, Kind, input_columns, sentence_columns
from augury.corpora.ingest import ingest, overlap

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "answers.py"


@pytest.mark.parametrize("kind", list(KINDS.values()), ids=list(KINDS))
def test_a_kind_names_columns_of_its_schema(kind: Kind) -> None:
    named = {*kind.sentences, *kind.inputs, kind.language, kind.target, kind.target_language}
    assert named - {""} <= set(kind.schema.names)
    assert input_columns(kind.schema.names) == kind.inputs
    assert set(kind.sentences) <= set(sentence_columns(kind.schema.names))


def test_a_kind_from_outside_is_one_file(tmp_path: Path) -> None:
    mine = runpy.run_path(str(EXAMPLE))
    try:
        (tmp_path / "text.tsv").write_text("question\tanswer\nWho?\tMe.\nWhere?\t\nWhen?\tNow.\n")
        content = {"language": "en", "train": {"file": str(tmp_path / "text.tsv")}}
        corpus = ingest(mine["AnswersSpec"].model_validate(content), "train", Store(tmp_path / "s"))
        assert (corpus.kind, corpus.noun, corpus.rows) == ("answers", "questions", 2)
        assert corpus.column("answer") == ["Me.", "Now."]
        assert corpus.column("language") == ["en", "en"] and overlap(corpus, corpus) == 2
        assert EXAMPLE.read_text().count("\n") <= 20
    finally:
        del KINDS["answers"]
