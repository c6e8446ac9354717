from pathlib import Path

import pytest

from augury.core.store import Store
from augury.corpora import facts
from augury.corpora.corpus import Corpus, CorpusWriter
from augury.corpora.schemas import MONOLINGUAL

ROW = {name: "x" for name in MONOLINGUAL.names if name not in ("views", "lineage")}


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    writer = CorpusWriter(Store(tmp_path / "store").folder("corpora", "0123456789abcdef"))
    return writer.finish({"kind": "monolingual"})


def _never() -> int:
    raise AssertionError("it is known")


def test_a_fact_is_computed_once(corpus: Corpus) -> None:
    assert facts.remembered("rows", [corpus], lambda: {"a": [1, None]}) == {"a": [1, None]}
    assert facts.remembered("rows", [corpus], _never) == {"a": [1, None]}


@pytest.mark.parametrize("value", [None, 0, "", [], False])
def test_a_fact_may_be_false(corpus: Corpus, value: object) -> None:
    facts.keep("rows", [corpus], value)
    assert facts.remembered("rows", [corpus], _never) == value


def test_another_name_setting_or_corpus_is_another_fact(corpus: Corpus) -> None:
    other = Corpus(corpus.folder.sub("other"))
    facts.keep("rows", [corpus], 1, most=5)
    assert facts.recall("rows", [corpus], most=6) is None
    assert facts.recall("words", [corpus], most=5) is None
    assert facts.recall("rows", [corpus, other], most=5) is None
    assert facts.recall("rows", [other], most=5) is None


def test_facts_of_another_version_are_not_read(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts.keep("rows", [corpus], 1)
    monkeypatch.setattr(facts, "VERSION", facts.VERSION + 1)
    assert facts.recall("rows", [corpus]) is None


@pytest.mark.parametrize("content", [b"", b"{}x", b'{"value": 2, "checksum": "0"}'])
def test_a_damaged_fact_is_computed_again(corpus: Corpus, content: bytes) -> None:
    facts.keep("rows", [corpus], 1)
    (file,) = Path(corpus.folder.root).glob(f"{facts.KIND}/*/*.json")
    file.write_bytes(content)
    assert facts.remembered("rows", [corpus], lambda: 3) == 3
    assert facts.remembered("rows", [corpus], _never) == 3


def test_a_storage_that_cannot_be_written_to_is_no_fault(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(corpus.folder), "write_json", refuse)
    assert facts.remembered("rows", [corpus], lambda: 3) == 3
