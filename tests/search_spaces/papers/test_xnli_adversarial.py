"""The tables of Dong et al. (2021): what they print, and what stands for their rows."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from augury.augment.health import Health
from augury.core import config
from augury.experiments.spec import parse
from augury.reporting.papers.table import Published, find
from augury.sweeping import space
from augury.sweeping.declarations import at_scale
from augury.text.eda import load_synonyms

TABLES = ("table2", "table3", "table4", "table5", "figure2")


def table(name: str) -> Published:
    return find(f"xnli_adversarial/{name}", "paper")


def test_the_share_of_generated_examples_that_are_kept_stands_beside_the_printed_one() -> None:
    of_table = table("table3")
    assert [row["p"].published for row in of_table.printed.values()] == [100, 94, 100, 66, 100]
    lost = {"empty": 5, "copied": 1, "dropped entailment": 4, "dropped neutral": 2}
    outputs = [Health("semantic", "semantic", 94, lost), Health("eda", "eda", 7)]
    assert of_table.declared.measure
    assert of_table.declared.measure(SimpleNamespace(health=outputs)) == {"p": 94}


def test_rows_are_operators_and_regimes() -> None:
    rows = table("table2").space.rows
    settings = {
        name: ([operator["operator"] for operator in row["augment"]], row["regime"]["name"])
        for name, row in rows.items()
    }
    assert settings["XLM-R"] == ([], "plain") and settings["+PGD"] == ([], "adversarial")
    assert settings["+RA+SA+PGD"] == (["reorder", "semantic"], "adversarial")
    assert settings["+EA(80k)"] == (["eda"], "plain")
    assert [len(table(name).space.rows) for name in TABLES] == [41, 5, 8, 14, 4]


@pytest.mark.parametrize("scale", ["toy", "small", "paper"])
def test_the_strategy_is_the_teacher_at_0_8_but_in_table_3(scale: str) -> None:
    for name in ("table2", "table4", "table5", "figure2"):
        for row in find(f"xnli_adversarial/{name}", scale).space.rows.values():
            for operator in row["augment"]:
                if operator["operator"] == "semantic":
                    assert (operator["rectify"], operator["threshold"]) == ("teacher", 0.8)


def test_sa_makes_20k_and_80k_of_20k_and_80k_of_10k() -> None:
    def hypotheses(name: str, row: str) -> int:
        changes = table(name).space.rows[row]
        (operator,) = (entry for entry in changes["augment"] if entry["operator"] == "semantic")
        labels = 1 if operator.get("labels") == "one_other" else 2
        return int(changes.get("corpus.train.subset", 20_000) * operator["copies"] * labels)

    for size in (20, 80):
        for row in (f"+SA ({size}k)", f"+SA +PGD ({size}k)"):
            assert hypotheses("table5", row) == size * 1000
    halves = [f"+SA +{attack} ({size})" for attack in ("FGM", "PGD") for size in ("10k", "20k")]
    assert {hypotheses("table4", row) for row in halves} == {80_000}


def test_wordnet_is_found(data: Path) -> None:
    row = table("table2").space.rows["+EA(80k)"]
    assert len(load_synonyms(row["augment"][0]["synonyms"])) == 52_691


def test_in_language_rows_have_a_system_for_every_language() -> None:
    """Footnote 2: trained on MultiNLI translated into the language, and tested on it."""
    paper_table = table("table2")
    base, rows = paper_table.space.base, paper_table.space.rows
    parts = at_scale(paper_table.declared.assembled, "paper")["XLM-R (in-language)"]
    assert parts.keys() == paper_table.printed["XLM-R (in-language)"].keys() - {"mean"}
    for language, row in parts.items():
        experiment = parse(config.merge(base, rows[row]), row)
        assert experiment.model.name == "FacebookAI/xlm-roberta-base"
        assert experiment.corpus.language == language and language in experiment.test_sets
        assert experiment.corpus.train.subset == 20_000
        known = "multi_nli" if language == "en" else "xnli_mt"
        assert experiment.corpus._known_set("train").name == known
    assert parts["en"] == "XLM-R"


def test_translate_train_all_reads_every_language() -> None:
    space_of_table = table("table2").space
    row = space_of_table.rows["XLM-R (translate-train-all)"]
    corpus = parse(config.merge(space_of_table.base, row)).corpus
    specs = corpus.mixture.items()
    files = {name: spec._known_set("train").texts["train"]["file"] for name, spec in specs}
    assert len(files) == 15 and set(files.values()) == {"multinli.train.{language}.tsv"}
    assert all(spec.language_codes()["language"] == name for name, spec in specs)


def test_radii_of_the_search_are_the_papers_norms() -> None:
    """Absolute norms, as ε = 3 of the paper is, which is among them."""
    search = space.find("pgd", "paper")
    assert not parse(search.base).regime.relative and 3.0 in search.keys["regime.epsilon"]
