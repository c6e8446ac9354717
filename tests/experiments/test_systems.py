"""Everything that experiments read and is not there is named at once, and once."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.spec import parse
from augury.experiments.systems import missing_inputs
from augury.sweeping import plan, published


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUGURY_DATA", str(tmp_path))
    return tmp_path


def test_texts_sets_and_files_of_stages_operators_and_models_are_found(empty: Path) -> None:
    def pair(name: str) -> dict[str, str]:
        return {"source": f"{empty}/{name}.de", "target": f"{empty}/{name}.en"}

    content = {
        "name": "x",
        "task": "nmt",
        "corpus": {
            "known": "multi30k",
            "source_language": "de",
            "target_language": "en",
            "train": pair("clean"),
        },
        "augment": [{"operator": "eda", "synonyms": f"{empty}/words.tsv"}],
        "stages": {
            "tune": {
                "corpus.train": pair("noisy"),
                "augment": [
                    {
                        "operator": "back_translation",
                        "monolingual": {"language": "en", "train": {"lines": f"{empty}/mono"}},
                        "system": {"corpus.train": pair("other")},
                    }
                ],
            }
        },
    }
    missing = missing_inputs([parse(content)] * 2)
    names = {
        "clean.de",
        "clean.en",
        "noisy.de",
        "noisy.en",
        "other.de",
        "other.en",
        "mono",
        "words.tsv",
        "multi30k",
    }
    assert {Path(name).name for name in missing} == names
    for name in names - {"multi30k"}:
        (empty / name).write_text("a\n")
    assert list(missing_inputs([parse(content)])) == ["multi30k"]


def test_a_table_names_all_that_its_rows_lack(empty: Path) -> None:
    space = published.find("xnli_adversarial/table2", "paper").space
    with pytest.raises(UserError) as error:
        plan.make(space, Store(str(empty / "store")), {}, [])
    text = str(error.value)
    assert [text.count(f" {name} (") for name in ("xnli", "xnli_mt", "multi_nli", "wmt14")] == [
        1,
        1,
        1,
        1,
    ]


def test_what_is_there_is_not_missing(empty: Path) -> None:
    corpus = {"language": "qaa", "train": {"builtin": 9}, "valid": {"builtin": 5}}
    assert not missing_inputs([parse({"name": "x", "task": "nli", "corpus": corpus})])
