"""Known sets: found where they lie, prepared as published, and otherwise told where to get them."""

from __future__ import annotations

import os
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.filters import Cleaning
from augury.corpora.ingest import ingest
from augury.corpora.known import KNOWN
from augury.corpora.spec import CorpusSpec


def corpus(known: str, source: str, target: str, **settings: Any) -> CorpusSpec:
    return CorpusSpec.model_validate(
        {"known": known, "source_language": source, "target_language": target, **settings}
    )


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.usefixtures("own_data")
def test_settings_of_every_set_are_valid(name: str, tmp_path: Path) -> None:
    known = KNOWN[name]
    for source, target in permutations(sorted(known.languages), 2):
        spec = corpus(name, source, target)
        assert spec.splits()[0] == "train" and "valid" in spec.splits() and len(spec.splits()) >= 3
        for split in spec.splits():
            with pytest.raises(UserError) as error:
                spec.resolve(split)
            assert known.homepage in str(error.value) and known.fetch[0] in str(error.value)
    assert Cleaning.model_validate(known.filter)


@pytest.mark.usefixtures("own_data")
def test_files_are_found_at_any_depth_and_compression(tmp_path: Path) -> None:
    folder = tmp_path / "multi30k" / "data" / "raw"
    folder.mkdir(parents=True)
    for name in ("train.de", "train.en.gz", "train.de.xz.part"):
        (folder / name).write_text("x\n")
    (folder / "a").mkdir()
    (folder / "a" / "train.de").write_text("deeper\n")
    part = corpus("multi30k", "de", "en", train={"first": 7}).resolve("train")
    assert part.text == CorpusSpec.TEXT.model_validate(
        {"source": str(folder / "train.de"), "target": str(folder / "train.en.gz"), "first": 7}
    )
    assert part.known is KNOWN["multi30k"]


@pytest.mark.usefixtures("own_data")
def test_iwslt14_as_fairseq_prepares_it(tmp_path: Path) -> None:
    folder = tmp_path / "iwslt14" / "de-en"
    folder.mkdir(parents=True)
    for language, word in (("de", "Wort"), ("en", "WORD")):
        lines = ["<url>http://ted</url>", "<talkid>1</talkid>", f"<title>{word}: Ein Titel</title>"]
        lines += [
            f" {word} {number} a" + " b b" * (number == 3 and language == "de")
            for number in range(2, 51)
        ]
        (folder / f"train.tags.de-en.{language}").write_text("\n".join(lines) + "\n")
        for name in ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012"):
            segments = f'<doc>\n<seg id="1"> {word} {name} isn’t </seg>\n</doc>\n'
            (folder / f"IWSLT14.{name}.de-en.{language}.xml").write_text(segments)
    spec, store = corpus("iwslt14", "de", "en"), Store(tmp_path / "store")
    train, valid, test = (ingest(spec, split, store) for split in spec.splits())
    # Row 3 is dropped (5 words to 3), so that the 23rd and 46th that stay are rows 24 and 47.
    assert valid.column("source") == ["wort 24 a", "wort 47 a"]
    assert train.rows == 47 and train.manifest["rejected"] == {"ratio": 1, "held out": 2}
    assert train.column("target")[:2] == ["word: ein titel", "word 2 a"]
    assert test.column("source") == [
        f"wort {name} isn't"
        for name in ("ted.dev2010", "tedx.dev2012", "ted.tst2010", "ted.tst2011", "ted.tst2012")
    ]


@pytest.mark.usefixtures("own_data")
def test_ted_leaves_out_missing_translations(tmp_path: Path) -> None:
    folder = tmp_path / "ted"
    folder.mkdir()
    (folder / "all_talks_test.tsv").write_text(
        'talk_name\ten\tsk\nx\t"one\tjeden\nx\ttwo\t__NULL__\n'
        "x\t_ _ NULL _ _\ttri\nx\t\tštyri\nx\tfive\tpäť\n"
    )
    test = ingest(corpus("ted", "sk", "en"), "test", Store(tmp_path / "store"))
    assert test.column("source") == ["jeden", "päť"] and test.column("target") == ['"one', "five"]
    assert test.column("id") == ["test-00000001", "test-00000005"]
    assert test.manifest["rejected"] == {"not selected": 3}


@pytest.mark.skipif(not os.environ.get("AUGURY_DATA"), reason="needs real data: set AUGURY_DATA")
class TestRealData:
    @pytest.mark.parametrize("language", ["de", "fr", "cs"])
    def test_multi30k(self, tmp_path: Path, language: str) -> None:
        spec, store = corpus("multi30k", language, "en"), Store(tmp_path)
        assert {split: ingest(spec, split, store).rows for split in spec.splits()} == {
            "train": 29_000,
            "valid": 1_014,
            "test2016": 1_000,
        }

    def test_mtnt(self, tmp_path: Path) -> None:
        spec, store = corpus("mtnt", "fr", "en"), Store(tmp_path)
        assert [ingest(spec, split, store).rows for split in ("valid", "test")] == [886, 1022]
