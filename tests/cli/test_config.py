"""`augury config`: the preflight."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Augury

SHIPPED = Path(__file__).parents[2] / "search_spaces" / "experiments"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An experiment on ten pairs, one of which is filtered, without test sets."""
    sentences = [f"das Haus {number} geht gern" for number in range(10)]
    (tmp_path / "a.de").write_text("\n".join(sentences) + "\n")
    (tmp_path / "a.en").write_text("\n".join([*sentences[:9], "no"]) + "\n")
    path = tmp_path / "toy.yaml"
    path.write_text(
        f"name: toy\ntask: nmt\nstorage: {tmp_path}/store\nseeds: [1, 2]\naugment: "
        f"[{{operator: cipher, keys: [1]}}]\n"
        "regime: coregularised\ncorpus:\n  source_language: de\n  target_language: en\n  every: 3\n"
        "  filter: {max_ratio: 1.5}\n"
        f"  train: {{source: {tmp_path}/a.de, target: {tmp_path}/a.en}}\n"
    )
    return path


def test_it_states_the_addresses_that_are_trained(path: Path, augury: Augury) -> None:
    """A setting without effect changes none."""

    def addresses(*settings: str) -> list[str]:
        content = augury("config", path, "--resolved", "--json", *settings).json
        return [system["address"] for system in content.values()]

    idle = ("--set", "training.warmup_share=0.1", "--set", "training.warmup_updates=17")
    assert addresses(*idle) == addresses(*idle[:2])
    assert addresses("--set=regime.beta=3")[1] != addresses()[1]
    *_, shown = augury("config", path, "--resolved", "--json").json.values()
    path.write_text(json.dumps(shown["settings"] | {"baseline": False}))  # as it is printed
    assert addresses() == [shown["address"]]


def test_it_states_the_shares_of_labels_and_what_the_largest_scores(
    tmp_path: Path, augury: Augury
) -> None:
    texts = {}
    for name, often in (("train", 12), ("valid", 9), ("test", 7)):
        rows = [f"a film {row}\t{'good' if row < often else 'bad'}" for row in range(12)]
        file = tmp_path / f"{name}.tsv"
        file.write_text("\n".join(["text\tlabel", *rows, "x\tbad\n"]))
        texts[name] = {"file": str(file)}
    corpus = {"language": "en", "labels": ["good", "bad"], "tests": {"test": texts.pop("test")}}
    content = {"name": "toy", "task": "classification", "storage": f"{tmp_path}/s"}
    content |= {"corpus": corpus | texts, "model": {"architecture": "tiny"}}
    path = tmp_path / "toy.yaml"
    path.write_text(yaml.safe_dump(content))
    facts = augury("config", path, "--json").json
    counts = [list(text["labels"].items()) for text in facts["texts"]]
    assert counts == [[("good", often), ("bad", 13 - often)] for often in (12, 9, 7)]
    (warning,) = [warning for warning in facts["warnings"] if "always answering" in warning]
    assert "valid are 'good'" in warning and "accuracy 69.2, macro F1 40.9" in warning
    assert "2, 92.3 % good" in augury("config", path).out


def test_it_reports_texts_runs_and_cost(path: Path, augury: Augury) -> None:
    facts = augury("config", path, "--json").json
    assert (facts["systems"], facts["seeds"]) == (["baseline", "toy"], [1, 2])
    assert (facts["runs"], facts["test_sets"]) == (4, [])
    texts = [(text["name"], text["rows_in"], text["rows"]) for text in facts["texts"]]
    assert texts == [("train", 10, 6), ("valid", 10, 3)]
    left_out = [
        (part["reason"], part["rows"], part["setting"]) for part in facts["texts"][0]["left_out"]
    ]
    held_out = ("held out", 3, "corpus.every")
    assert left_out == [("ratio", 1, "corpus.filter.max_ratio"), held_out]
    costs = [facts["cost"]["by_system"][name]["seconds"] for name in ("baseline", "toy")]
    at_once = facts["cost"]["at_once"]
    assert facts["cost"]["seconds"] == pytest.approx(2 * sum(costs) / at_once)
    assert len(facts["warnings"]) == 1
    shown = augury("config", path).out
    assert "1 row of train excluded: ratio (setting corpus.filter.max_ratio: " in shown
    assert "\ncost" in shown


ENGLISH = "the man with the red hat is waiting at the corner of the street for his friend"
GERMAN = "der Mann mit dem roten Hut wartet an der Ecke der Strasse auf seinen Freund"


def test_texts_that_are_probably_wrong_are_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, augury: Augury
) -> None:
    """By `init` and by `config`, at their ends."""
    monkeypatch.chdir(tmp_path)
    words = ["--model", "tiny"]
    for name, first, ending in (
        ("train", 0, "&#233; . <bé> a@@ b"),
        ("valid", 9, ""),
        ("test", 9, ""),
    ):
        files = [f"{name}.de", f"{name}.en"]
        for file, text in zip(files, (ENGLISH, GERMAN), strict=True):
            rows = [f"{text} {number}{ending}\n" for number in range(first, first + 30)]
            Path(file).write_text("".join(rows), encoding="utf-8")
        words += [f"--{name}", *files]
    facts = augury("init", "mine.yaml", *words, "--json").json
    assert facts == augury("config", "mine.yaml", "--json").json
    expected = [
        "train: the language of its source is 'de'",
        "train: its source has escaped characters (&#233;)",
        "train: its source looks tokenised",
        "train: its source is cut into subwords",
        "train: its source has markup (<bé>)",
        "30 of the 30 pairs of 'test' are in the validation set too",
    ]
    for warning in expected:
        assert any(warning in said for said in facts["warnings"]), (warning, facts["warnings"])
    shown = augury("config", "mine.yaml").out
    assert shown.startswith("mine.yaml is valid; see the warnings at the end: ")
    last = [line for line in shown.splitlines() if line][-1]
    assert last.startswith("warning: ") and all(warning in shown for warning in expected)
