"""Known NLI sets: found where they lie in the layout of their publishers, and otherwise told
where to get them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import LABELS, Corpus
from augury.corpora.filters import Cleaning
from augury.corpora.ingest import ingest, overlaps
from augury.corpora.known import KNOWN_NLI as KNOWN
from augury.corpora.spec import NliSpec

# The header of xnli.dev.tsv and xnli.test.tsv.
XNLI_NAMES = (
    "language gold_label sentence1_binary_parse sentence2_binary_parse sentence1_parse "
    "sentence2_parse sentence1 sentence2 promptID pairID genre label1 label2 label3 label4 label5 "
    "sentence1_tokenized sentence2_tokenized match"
)
XNLI_HEADER = XNLI_NAMES.split()

XNLI_LANGUAGES = tuple(KNOWN["xnli"].languages)


def corpus(*known: str, **settings: Any) -> NliSpec:
    return NliSpec.model_validate({"known": known, "language": "en", **settings})


def triples(records: Corpus) -> list[tuple[str, ...]]:
    return list(
        zip(*(records.column(name) for name in ("premise", "hypothesis", "label")), strict=True)
    )


def xnli_file(path: Path, languages: tuple[str, ...] = XNLI_LANGUAGES) -> None:
    rows = [XNLI_HEADER]
    for language in languages:
        for number, label in enumerate(LABELS):
            row = dict.fromkeys(XNLI_HEADER, "")
            row |= {"language": language, "gold_label": label}
            row |= {"sentence1": f'{language} "p{number}', "sentence2": f"{path.name} h{number}"}
            rows.append([*row.values()])
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("".join("\t".join(row) + "\n" for row in rows))


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.usefixtures("own_data")
def test_settings_of_every_set_are_valid(name: str, tmp_path: Path) -> None:
    known = KNOWN[name]
    for language in known.languages:
        spec = corpus(name, language=language)
        assert set(spec.splits()) == set(known.texts)
        for split in spec.splits():
            with pytest.raises(UserError, match=known.homepage) as error:
                spec.resolve(split)
            assert known.fetch[0] in str(error.value)
    assert Cleaning.model_validate(known.filter)
    assert all(NliSpec.TEXT.model_validate(text).origin == "file" for text in known.texts.values())
    assert all("language" in known.texts[test] for test in known.tests)


@pytest.mark.usefixtures("own_data")
def test_xnli_as_published(tmp_path: Path) -> None:
    for name in ("dev", "test"):
        xnli_file(tmp_path / "xnli" / "XNLI-1.0" / f"xnli.{name}.tsv")
    spec, store = corpus("xnli", language="de"), Store(tmp_path / "store")
    corpora = {split: ingest(spec, split, store) for split in spec.splits()}
    assert triples(corpora["valid"]) == [
        (f'de "p{n}', f"xnli.dev.tsv h{n}", label) for n, label in enumerate(LABELS)
    ]
    for code in XNLI_LANGUAGES:
        assert triples(corpora[code]) == [
            (f'{code} "p{n}', f"xnli.test.tsv h{n}", LABELS[n]) for n in range(3)
        ]
        assert corpora[code].manifest["rejected"] == {"not selected": 42}
        assert [corpora[code].manifest[key] for key in ("language", "known")] == [code, "xnli"]


@pytest.mark.parametrize(
    ("known", "file", "split"),
    [
        ("multi_nli", "multinli_1.0_train.jsonl", "train"),
        ("snli", "snli_1.0_test.jsonl", "snli"),
    ],
)
@pytest.mark.usefixtures("own_data")
def test_multi_nli_and_snli_as_published(tmp_path: Path, known: str, file: str, split: str) -> None:
    rows = [(f"p{number}", f"h{number}", label) for number, label in enumerate([*LABELS, "-"])]
    names = ("sentence1", "sentence2", "gold_label")
    records = [{"genre": "fiction", **dict(zip(names, row, strict=True))} for row in rows]
    (tmp_path / known).mkdir()
    (tmp_path / known / file).write_text("".join(json.dumps(record) + "\n" for record in records))
    ingested = ingest(corpus(known), split, Store(tmp_path / "store"))
    assert triples(ingested) == rows[:3]
    assert ingested.manifest["rejected"] == {"no gold label": 1}


@pytest.mark.skipif(not os.environ.get("AUGURY_DATA"), reason="needs real data: set AUGURY_DATA")
def test_real_sets_have_the_published_labels(tmp_path: Path) -> None:
    cad = {"train": (2_770, 2_778, 2_782), "valid": (326, 325, 349), "cad_snli": (654, 677, 669)}
    for known, counts in (
        ("snli_validation", {"snli": (3_329, 3_235, 3_278)}),
        ("cad_snli", cad),
        ("ling_in_loop", {"train": (14_995, 14_995, 14_993), "valid": (2_560, 2_443, 2_368)}),
        ("semiauto_wiki", {"train": (4_507, 5_238, 5_358), "semiauto_wiki": (213, 229, 243)}),
    ):
        spec, store = corpus(known), Store(tmp_path)
        corpora = {split: ingest(spec, split, store) for split in spec.splits()}
        for split, part in corpora.items():
            labels = part.column("label")
            assert tuple(map(labels.count, LABELS)) == counts[split]
            assert {*part.column("language")} == {"en"}
        first, *_, last = [*corpora.values()] * 2
        assert "train" not in corpora or overlaps(first, [last])[0] < 5
