"""The tables of Li and Specia (2019): what they print, and what stands for their rows."""

from __future__ import annotations

import pytest

from augury.core import config
from augury.experiments.experiment import last_stage, parse
from augury.sweeping import published, space
from augury.sweeping.published import Published

TABLES = [name for name in space.tables() if name.startswith("noisy_nmt/")]


def table(name: str, scale: str = "paper") -> Published:
    return published.find(f"noisy_nmt/{name}", scale)


@pytest.mark.parametrize(
    ("name", "count", "column", "best"),
    [
        ("table2", 2, "WRR", ("ASR (λ = 1.2)", 70.54)),
        ("table3", 10, "MTNT", ("+double tune", 40.57)),
        ("table3", 10, "MTNT2019", ("+FT+FM", 42.80)),
        ("table4", 15, "MTNT", ("+double tune", 36.78)),
        ("table4", 15, "newsdiscusstest2015", ("+FT", 37.91)),
        ("table5", 8, "MTNT2019", ("(Berard et al., 2019)", 48.8)),
        ("table6", 6, "MTNT2019", ("(Berard et al., 2019)", 42.0)),
    ],
)
def test_what_is_printed(name: str, count: int, column: str, best: tuple[str, float]) -> None:
    printed = table(name)
    values = {row: of_row[column] for row in printed.printed.rows if column in (of_row := printed.values(row))}
    assert len(printed.printed.rows) == count and max(values.items(), key=lambda item: item[1]) == best


@pytest.mark.parametrize("name", TABLES)
def test_rows_are_experiments_at_every_scale(name: str) -> None:
    """Each row, and each of its stages, is what an experiment file may hold."""
    for scale in space.load(name).scales:
        paper_table = published.find(name, scale)
        assert paper_table.deviations
        for row, changes in paper_table.space.rows.items():
            last_stage(parse(config.merge(paper_table.space.base, changes), row))


@pytest.mark.parametrize("scale", ["toy", "small", "paper"])
def test_double_tuning_ends_on_text_of_the_same_direction(scale: str) -> None:
    """What is tuned twice reads, at the end, what Tune-S reads, and before that what +FT+FM reads."""
    search_space = table("table3", scale).space
    chains = {name: changes.get("stages", {}) for name, changes in search_space.rows.items()}
    assert chains["+double tune"] == {**chains["+FT+FM"], "again": chains["Tune-S"]["tune"]}
    assert [text.get("reversed", False) for text in chains["Tune-B"]["both"]["corpus.train"]] == [False, True]
    assert {stage["carry"] for stages in chains.values() for stage in stages.values()} == {"optimizer"}


def test_back_translation_is_by_the_tuned_model_of_the_other_direction() -> None:
    search_space = table("table3", "small").space
    tuned = last_stage(parse(config.merge(search_space.base, search_space.rows["+BT"])))
    (model,) = tuned.model_experiments().values()
    chain = (model, model.before())
    assert [stage.corpus.languages_of("train") for stage in chain if stage] == [("en", "fr")] * 2
    assert model.corpus.train.file.endswith("mtnt/valid.en-fr.tsv.gz")


def test_the_noisy_development_set_is_cut_into_parts_that_share_nothing() -> None:
    for name in ("table3", "table4"):
        search_space = table(name, "small").space
        train = search_space.rows["Tune-S" if name == "table3" else "MTNT(Tune-S)"]["stages"]["tune"]["corpus.train"]
        texts = [train, search_space.base["corpus"]["valid"][1], search_space.base["corpus"]["tests"]["MTNT"]]
        portions = sorted(tuple(text["portion"]) for text in texts if text["file"] == train["file"])
        assert portions[0][0] == 0 and portions[-1][1] == 1
        assert all(first[1] == second[0] for first, second in zip(portions, portions[1:], strict=False))


def test_tags_of_mixed_training_are_those_of_the_released_code() -> None:
    mixed = table("table4", "toy").space.rows["Mixed training"]
    tags = {text["tag"] for text in mixed["corpus.train"]} | {share["tag"] for share in mixed["mixture"].values()}
    assert tags <= set(mixed["vocabulary.reserved"]) and len(tags) == 8
    assert mixed["corpus.tests.MTNT2019.tag"] == "<MTNT_s>" and mixed["corpus.tests.newstest2014.tag"] == "<clean_s>"
