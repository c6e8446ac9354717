"""The tables of Li and Specia (2019): what they print, and what stands for their rows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from augury.augment.fuzzy_match import FuzzyMatch
from augury.augment.health import Health
from augury.core import config
from augury.experiments.spec import parse
from augury.experiments.systems import last_stage
from augury.reporting.papers.table import Published, find


def table(name: str, scale: str = "paper") -> Published:
    return find(f"noisy_nmt/{name}", scale)


def test_pairs_of_fuzzy_matches_are_counted_and_those_of_the_text_shown() -> None:
    made = [("fuzzy_match", 5), ("fuzzy_match-mono", 7), ("back_translation", 9)]
    outputs = [Health(name, name.removesuffix("-mono"), count) for name, count in made]
    for name, stated in (("table3", "7,154"), ("table4", "7,290")):
        of_table = table(name)
        assert any(
            f"+FM, fuzzy pairs: Section 3.2 has {stated}" in remark for remark in of_table.remarks
        )
        measure = of_table.declared.measure
        assert measure is not None
        assert measure(SimpleNamespace(health=outputs)) == {"fuzzy pairs": 12}
        assert measure(SimpleNamespace(health=[])) == {}


@pytest.mark.parametrize("scale", ["toy", "small", "paper"])
def test_double_tuning_ends_on_text_of_the_same_direction(scale: str) -> None:
    """What is tuned twice reads, at the end, what Tune-S reads, and before that what +FT+FM
    reads."""
    search_space = table("table3", scale).space
    chains = {name: changes.get("stages", {}) for name, changes in search_space.rows.items()}
    assert chains["+double tune"] == {**chains["+FT+FM"], "again": chains["Tune-S"]["tune"]}
    both = chains["Tune-B"]["both"]["corpus.train"]
    assert [text.get("reversed", False) for text in both] == [False, True]
    carried = {stage["carry"] for stages in chains.values() for stage in stages.values()}
    assert carried == {"optimizer"}


def test_the_noisy_development_set_is_cut_into_parts_that_share_nothing() -> None:
    for name, row in (("table3", "Tune-S"), ("table4", "MTNT(Tune-S)")):
        space = table(name, "small").space
        train = space.rows[row]["stages"]["tune"]["corpus.train"]
        corpus = space.base["corpus"]
        texts = [train, corpus["valid"][1], corpus["tests"]["MTNT"]]
        portions = sorted(tuple(text["portion"]) for text in texts if text["file"] == train["file"])
        ends = [0, *(end for portion in portions for end in portion), 1]
        assert ends[::2] == ends[1::2]


@pytest.mark.parametrize(("scale", "count"), [("toy", 8), ("paper", 9)])
def test_tags_of_mixed_training_are_those_of_the_released_code(scale: str, count: int) -> None:
    """At the paper's scale, fuzzy matches of monolingual text have one of their own."""
    mixed = table("table4", scale).space.rows["Mixed training"]
    shares = [*mixed["corpus.train"], *mixed["mixture"].values()]
    tags = {share["tag"] for share in shares}
    assert tags <= set(mixed["vocabulary.reserved"]) and len(tags) == count
    assert mixed["corpus.tests.MTNT2019.tag"] == "<MTNT_s>"
    assert mixed["corpus.tests.newstest2014.tag"] == "<clean_s>"


def fuzzy_matches(changes: dict[str, Any]) -> list[dict[str, Any]]:
    """Every fuzzy match of a row and of its stages."""
    operators = [
        *changes.get("augment", ()),
        *(o for stage in changes.get("stages", {}).values() for o in stage["augment"]),
    ]
    return [operator for operator in operators if operator["operator"] == "fuzzy_match"]


@pytest.mark.parametrize(
    ("name", "language"), [("table3", "fr"), ("table4", "en"), ("table5", "fr"), ("table6", "en")]
)
def test_fuzzy_matches_of_the_paper_are_of_ten_candidates_and_monolingual_text_too(
    name: str, language: str
) -> None:
    """methods.md, B3: the ten best by containment, 50 % of the shorter sentence, both pairs,
    more than five tokens."""
    matches = [fuzzy_matches(changes) for changes in table(name).space.rows.values()]
    found = [FuzzyMatch.model_validate(operator) for operators in matches for operator in operators]
    assert len(found) == (4 if name in ("table3", "table4") else 1)
    for operator in found:
        limits = (operator.threshold, operator.norm, operator.candidates)
        assert limits == (0.5, "min", "containment")
        assert operator.both_directions
        assert operator.monolingual and operator.monolingual.language == language
        assert operator.monolingual.train.files()[0].endswith(f"mtnt/monolingual.{language}")


def test_the_model_of_the_other_direction_searches_and_is_validated_as_its_own() -> None:
    space = table("table3").space
    tuned = last_stage(parse(config.merge(space.base, space.rows["+BT"])))
    (model,) = tuned.model_experiments.values()
    chain, deciding = (model, model.before), model.corpus.valid[1]
    assert [stage.corpus.languages_of("train") for stage in chain if stage] == [("en", "fr")] * 2
    assert model.corpus.train.file.endswith("mtnt/train.en-fr.tsv")
    assert model.corpus.decides == deciding.name == "noisy"
    assert deciding.file.endswith("mtnt/valid.en-fr.tsv")
    assert deciding.table_columns == {"source": "src", "target": "tgt"}
    for row in ("+BT", "+FT"):
        (stage,) = space.rows[row]["stages"].values()
        assert stage["augment"][0]["decoding"] == {"length_penalty": 0.0}
