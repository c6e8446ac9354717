"""Several training texts: one corpus, whose parts are those of the texts alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from augury.core.config import validate
from augury.core.store import Store
from augury.corpora.corpus import row_ranges
from augury.corpora.ingest import cached_address, ingest
from augury.corpora.spec import CorpusSpec

VALID = {"builtin": 4}
CLEAN, NOISY = {"name": "clean", "builtin": 36}, {"name": "noisy", "builtin": 19, "seed": 3}


def corpus(**settings: Any) -> CorpusSpec:
    return validate(
        CorpusSpec,
        {"source_language": "qaa", "target_language": "qab", "valid": VALID, **settings},
        "c",
    )


def test_records_follow_one_another_and_keep_the_name_of_their_text(tmp_path: Path) -> None:
    """Golden sizes: Tune-B trains on both directions, 36 and 19 (thousand), merged to 55 (Li and
    Specia 2019, 4.2)."""
    store, spec = Store(tmp_path), corpus(train=[CLEAN, NOISY])
    mixed = ingest(spec, "train", store)
    assert mixed.address == cached_address(spec, "train")
    assert mixed.rows == 55 and row_ranges(mixed) == [("clean", 0, 36), ("noisy", 36, 55)]
    assert mixed.column("origin") == ["clean"] * 36 + ["noisy"] * 19
    assert len(set(mixed.column("id"))) == 55
    alone = ingest(corpus(train={"builtin": 19, "seed": 3}), "train", store)
    assert mixed.column("source")[36:] == alone.column("source")
    assert alone.address in mixed.manifest["inputs"]


def test_a_text_of_the_other_direction_is_read_the_other_way_about(tmp_path: Path) -> None:
    for side, line in (("en", "a b\n"), ("fr", "c d\n")):
        (tmp_path / side).write_text(line)
    sides = {"source": str(tmp_path / "en"), "target": str(tmp_path / "fr"), "reversed": True}
    spec = validate(
        CorpusSpec,
        {"source_language": "fr", "target_language": "en", "train": sides, "valid": sides},
        "corpus",
    )
    for split in ("train", "valid"):
        records = ingest(spec, split, Store(tmp_path / "store"))
        assert (records.column("source"), records.column("target")) == (["c d"], ["a b"])
        assert records.column("source_language") == ["fr"]
