"""Settings of corpora of every kind: what they mean, and the errors of wrong ones."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from augury.core.config import validate
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import KINDS
from augury.corpora.ingest import ingest, overlaps
from augury.corpora.known import KNOWN_NLI
from augury.corpora.spec import (
    BaseSpec,
    CorpusSpec,
    NliSpec,
    swapped,
)

FILES = {"source": "a.de", "target": "a.en"}
TABLE = {"file": "a.tsv", "columns": {"source": "de", "target": "en"}}
NLI = {"file": "a.tsv"}
PAIR = {"source_language": "de", "target_language": "en"}
CLEAN, NOISY = {"name": "clean", "builtin": 36}, {"name": "noisy", "builtin": 19, "seed": 3}
XNLI = tuple(KNOWN_NLI["xnli"].languages)
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "answers.py"


def parallel(**settings: Any) -> CorpusSpec:
    return validate(CorpusSpec, {**PAIR, **settings}, "corpus")


def nli(**settings: Any) -> NliSpec:
    return validate(NliSpec, {"language": "en", **settings}, "corpus")


OF_TEXT: list[tuple[Any, str]] = [
    ({**FILES, "file": "b.tsv"}, "source and target and file"),
    ({"source": "a.de"}, "target"),
    ({**FILES, "where": {"set": "a"}}, "where applies to file or hub, not to source and target"),
    ({**TABLE, "columns": {"source": "de", "target": "de"}}, "must differ"),
    ({**TABLE, "columns": {"sorce": "de"}}, "did you mean 'source'"),
    ({**FILES, "columns": {"source": "de"}}, "columns applies to file or hub"),
    ({"builtin": 5, "lexcon": 3}, "lexicon"),
    ({**FILES, "noise": {"spelling": 0.1}}, "train.noise"),
    ({**FILES, "replace": {"": "x"}}, "train.replace"),
    ({**FILES, "portion": [0.5, 0.2]}, "portion .* the lower end first"),
    ([CLEAN, CLEAN], "distinct name"),
    ({**TABLE, "labels": {True: "x"}}, "in quotes"),
]
OF_PAIRS: list[tuple[dict[str, Any], str]] = [
    ({"tests": {"a": {}}}, "a has no text"),
    ({"known": "iwslt14", "source_language": "fr"}, "iwslt14 has no fr-en"),
    ({"known": "iwslt14", "valid": {"first": 5}}, "'valid'"),
    ({"train": FILES, "valid": FILES, "every": 23}, "every"),
    ({"train": [CLEAN], "valid": FILES, "decides": "x"}, "decides 'x'"),
]
OF_NLI: list[tuple[dict[str, Any], str]] = [
    ({"train": {**NLI, "labels": {0: "entails"}}}, "label 'entails': did you mean 'entailment'"),
    ({"train": NLI, "valid": {**NLI, "subset": 5}}, "valid.subset"),
    ({"known": ["xnli", "snli"], "tests": {"deu": {}}}, "'deu'.*'de'"),
]
MISTAKES: list[tuple[type[BaseSpec], dict[str, Any], str]] = [
    *((CorpusSpec, {"train": text, "valid": {"builtin": 5}}, named) for text, named in OF_TEXT),
    *((CorpusSpec, *mistake) for mistake in OF_PAIRS),
    *((NliSpec, *mistake) for mistake in OF_NLI),
]


@pytest.mark.parametrize(("schema", "settings", "named"), MISTAKES)
def test_mistakes_name_the_setting(
    schema: type[BaseSpec], settings: dict[str, Any], named: str
) -> None:
    languages = PAIR if schema is CorpusSpec else {"language": "en"}
    with pytest.raises(UserError, match=named):
        validate(schema, {**languages, **settings}, "corpus")


def test_a_kind_from_outside_is_one_file(tmp_path: Path) -> None:
    mine = runpy.run_path(str(EXAMPLE))
    try:
        (tmp_path / "text.tsv").write_text("question\tanswer\nWho?\tMe.\nWhere?\t\nWhen?\tNow.\n")
        content = {"language": "en", "train": {"file": str(tmp_path / "text.tsv")}}
        corpus = ingest(mine["AnswersSpec"].model_validate(content), "train", Store(tmp_path / "s"))
        assert (corpus.kind.name, corpus.kind.noun, corpus.rows) == ("answers", "questions", 2)
        assert corpus.column("answer") == ["Me.", "Now."]
        assert corpus.column("language") == ["en", "en"] and overlaps(corpus, [corpus]) == [2]
    finally:
        del KINDS["answers"]


def test_what_has_no_effect_is_not_in_the_settings_of_an_address() -> None:
    def settings(**values: Any) -> dict[str, Any]:
        return NliSpec.TEXT.model_validate(values).settings()

    plain = settings(file="a.tsv")
    assert plain == settings(file="b.tsv.gz", language="de", format="tsv", name="b", weight=2)
    others = [{"where": {"a": 1}}, {"format": "csv"}, {"columns": {"label": "x"}}, {"subset": 3}]
    assert all(settings(file="a.tsv", **other) != plain for other in others)


def test_known_nli_sets_fill_in_what_is_not_given() -> None:
    paper = nli(known=["xnli", "multi_nli"], train={"subset": 20_000})
    assert paper.splits() == ("train", "valid", *XNLI) and len(XNLI) == 15
    assert {name: paper.languages_of(name) for name in paper.splits()} == {
        "train": ("en",),
        "valid": ("en",),
        **{code: (code,) for code in XNLI},
    }
    chosen = nli(known="xnli_dev", language="de", tests={"sw": {"first": 9}})
    assert chosen.languages_of("sw") == ("sw",)


def test_several_validation_texts_of_which_one_decides() -> None:
    dev = [{"name": "clean", "builtin": 4}, {"name": "noisy", "builtin": 5, "tag": "<noisy>"}]
    first = parallel(train={"builtin": 9}, valid=dev)
    second = parallel(train={"builtin": 9}, valid=dev, decides="noisy")
    assert first.splits() == ("train", "valid", "valid noisy")
    assert second.splits() == ("train", "valid", "valid clean")
    assert second.tag("valid") == "<noisy>" == first.tag("valid noisy")
    assert first.tag("valid") is None and second.resolve("valid clean").role == "valid"
    assert [spec.resolve("valid").text.builtin for spec in (first, second)] == [4, 5]


def test_held_out_rows_are_read_as_the_training_text_is() -> None:
    tagged = parallel(train={**FILES, "tag": "<web>"}, every=5)
    assert tagged.tag("valid") == tagged.tag("train") == "<web>"
    german = nli(train={**NLI, "language": "de"}, every=5)
    assert german.languages_of("valid") == ("de",)
    assert nli(train={**NLI, "where": {"gold": True}}).train.where == {"gold": "true"}  # type: ignore[union-attr]


def test_one_of_several_validation_texts_is_that_of_a_known_set() -> None:
    texts = [CLEAN, {"name": "noisy"}]
    known = {"known": "mtnt", "source_language": "fr", "valid": texts}
    for decides, other in (("clean", "valid noisy"), ("noisy", "valid clean")):
        assert parallel(**known, decides=decides).dev_sets == (other,)


def test_source_and_target_are_exchanged_in_every_split() -> None:
    tests = {"a": {**TABLE, "first": 3}}
    settings = {**PAIR, "train": FILES, "valid": TABLE, "tests": tests}
    exchanged = swapped(settings)
    turned = {"reversed": True}
    assert exchanged == {
        **{"source_language": "en", "target_language": "de", "valid": {**TABLE, **turned}},
        **{"train": {**FILES, **turned}, "tests": {"a": {**TABLE, "first": 3, **turned}}},
    }
    again = swapped(exchanged)
    assert CorpusSpec.model_validate(again) == CorpusSpec.model_validate(settings)
    assert swapped({**PAIR, "known": "multi30k", "train": {"first": 9}})["train"] == {"first": 9}
