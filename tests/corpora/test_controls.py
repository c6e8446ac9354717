"""Characters that are not seen: found, counted and named, and kept in the text."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from augury.core.store import Store
from augury.corpora.ingest import ingest
from augury.corpora.records import CONTROLS, count_controls
from augury.corpora.spec import CorpusSpec
from augury.experiments import preflight
from augury.experiments.systems import expand
from tests.tiny import OF_TASK, experiment


def test_texts_are_counted_once_for_each_character() -> None:
    texts = [pa.array(["a\0b\0", "\u202eabc\u202c", "plain ä 中"]), pa.array(["x", "y\0", "z"])]
    assert count_controls(texts) == {
        "U+0000 NUL": 2,
        "U+202E RIGHT-TO-LEFT OVERRIDE": 1,
        "U+202C POP DIRECTIONAL FORMATTING": 1,
    }


@given(st.text(st.characters(codec="utf-8", exclude_characters=CONTROLS), max_size=30))
def test_no_other_character_is_one(text: str) -> None:
    assert not count_controls([pa.array([text], pa.string())])


def test_reading_a_corpus_counts_those_of_its_rows_and_the_preflight_names_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "a").write_text("mi \u202ekiza\nzura\n")
    (tmp_path / "b").write_text("one\ntwo\u2066\n")
    text = {"source": str(tmp_path / "a"), "target": str(tmp_path / "b")}
    described = experiment(
        "nmt", tmp_path / "store", corpus={**OF_TASK["nmt"]["corpus"], "tests": {"odd": text}}
    )
    assert isinstance(described.corpus, CorpusSpec)
    corpus = ingest(described.corpus, "odd", Store(tmp_path / "store"))
    assert corpus.manifest["controls"] == {
        "U+202E RIGHT-TO-LEFT OVERRIDE": 1,
        "U+2066 LEFT-TO-RIGHT ISOLATE": 1,
    }
    assert corpus.column("source") == ["mi \u202ekiza", "zura"]
    cautions = preflight.report(expand(described), Store(tmp_path / "store")).cautions
    assert any(
        "U+202E RIGHT-TO-LEFT OVERRIDE" in caution and "odd" in caution for caution in cautions
    )
