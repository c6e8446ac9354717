from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

from augury.cli import main
from augury.core.store import Folder, Store
from augury.experiments.record import Input, RunRecord
from augury.scoring.scores import score
from augury.scoring.stored import write_statistics
from augury.sweeping import state
from tests.run_folders import outcome, write_scores

WORDS = [
    "the",
    "a",
    "of",
    "to",
    "house",
    "dog",
    "cat",
    "runs",
    "sleeps",
    "green",
    "old",
    "well",
    "in",
    "on",
    "and",
]
REFERENCES = [" ".join(random.Random(line).choices(WORDS, k=5 + line % 9)) for line in range(120)]


def hypotheses(rate: float, key: str) -> list[str]:
    """Return the references with a fraction of their words replaced."""
    drawn = random.Random(key)
    return [
        " ".join(drawn.choice(WORDS) if drawn.random() < rate else word for word in line.split())
        for line in REFERENCES
    ]


def write(path: Path, lines: Sequence[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture
def texts(tmp_path: Path) -> dict[str, str]:
    """Files with references and hypotheses: a baseline and a better system with three seeds
    each."""
    files = {"reference": write(tmp_path / "test.en", REFERENCES)}
    for name, rate in (("base", 0.30), ("better", 0.20)):
        for seed in (1, 2, 3):
            lines = hypotheses(rate + 0.005 * seed, f"{name} {seed}")
            files[f"{name}-{seed}"] = write(tmp_path / f"{name}-{seed}.txt", lines)
    return files


def seeds(texts: dict[str, str], name: str) -> str:
    return ",".join(texts[f"{name}-{seed}"] for seed in (1, 2, 3))


class Runs:
    """A storage with scored runs."""

    def __init__(self, root: Path):
        self.root, self.store = str(root), Store(root)

    def run(
        self,
        name: str,
        address: str,
        seed: int,
        rate: float | None,
        *,
        test: str = "test",
        text: str = "7e57" * 4,
        metrics: Sequence[str] = ("bleu", "chrf"),
        seconds: float = 100.0,
    ) -> Folder:
        """Add a run, scored if it has an error rate."""
        run = self.store.folder("runs", f"{address}/seed-{seed}")
        record = RunRecord(name, address, seed, "nmt", inputs=(Input(test, text, len(REFERENCES)),))
        record.write_description(run, {})
        if rate is not None:
            lines = hypotheses(rate, f"{name} {seed}")
            scores = score(lines, REFERENCES, language="en", metrics=metrics, samples=10)
            write_statistics(run, test, scores)
            write_scores(run, {test: scores}, outcome(seconds))
        return run

    def sweep(self, name: str, configurations: dict[str, str], chosen: str = "") -> None:
        """Add a sweep over configurations, name -> address, the reference first, that chose one of
        these addresses."""
        folder = self.store.folder(state.KIND, name)
        folder.write_record(
            state.DEFINITION,
            {
                "name": name,
                "question": "?",
                "metric": "valid/bleu",
                "mode": "max",
                "scale": "toy",
                "keys": [],
                "seeds": [1, 2],
                "scheduler": "all",
                "reference": next(iter(configurations.values())),
                "merged": [],
                "started": 0.0,
                "configurations": [
                    {"name": title, "address": address, "point": {}}
                    for title, address in configurations.items()
                ],
            },
        )
        decision = {"time": 1.0, "configuration": chosen, "action": "chosen", "seeds": 2}
        decision |= {"mean": 1.0, "low": 1.0, "high": 1.0, "cut": 1.0}
        decisions = [decision] if chosen else []
        written = {"time": 1.0, "ended": True, "trials": {}, "decisions": decisions}
        folder.write_record(state.STATE, written)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    storage = Runs(tmp_path / "results")
    for seed in (1, 2):
        storage.run("base", "aa" * 8, seed, 0.30)
        storage.run("better", "bb" * 8, seed, 0.15, seconds=250.0)
    return storage


def compared(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["compare", *arguments, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["compare", *arguments]) == 2
    return capsys.readouterr().err


def test_files_with_seeds_are_tested_over_seeds_and_sentences(
    texts: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        seeds(texts, "base"),
        seeds(texts, "better"),
        "--references",
        texts["reference"],
        "--language",
        "en",
    ]
    (table,) = (shown := compared(capsys, *arguments))["tables"]
    base, better = table["rows"]
    assert (table["test"], base["name"], better["name"]) == ("test.en", "base", "better")
    files = [Path(texts[f"better-{seed}"]).read_text().splitlines() for seed in (1, 2, 3)]
    expected = [sacrebleu.corpus_bleu(lines, [REFERENCES]).score for lines in files]
    assert better["scores"]["bleu"]["value"] == pytest.approx(sum(expected) / 3)
    assert "tok:13a" in better["scores"]["bleu"]["signature"]
    assert better["tested"]["over"] == "seeds and sentences"
    assert 0 < better["tested"]["low"] < better["difference"] < better["tested"]["high"]
    assert better["corrected"] == better["tested"]["p_value"] < 0.05
    assert "the difference is real" in shown["answer"]
    assert main(["compare", *arguments]) == 0
    text = capsys.readouterr().out
    assert "difference [95 %]" in text and "train time" not in text and shown["answer"] in text


def test_several_references_give_what_score_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["the cat sat on the mat", "a dog is in my garden"]
    files = [write(tmp_path / "one", lines), write(tmp_path / "two", lines[::-1])]
    references = [
        write(tmp_path / "first", ["the cat is on the mat", "there is a dog in my garden"]),
        write(tmp_path / "second", ["a cat sat on the mat", "a dog is here in my garden"]),
    ]
    (table,) = compared(capsys, *files, "--references", *references, "--language", "en")["tables"]
    assert main(["score", files[0], *references, "--language", "en", "--json"]) == 0
    (bleu, _) = json.loads(capsys.readouterr().out)["scores"]
    assert table["rows"][0]["scores"]["bleu"]["value"] == pytest.approx(bleu["value"])
    assert "nrefs:2" in table["rows"][0]["scores"]["bleu"]["signature"]


def test_labels_are_compared_by_accuracy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = ["neutral", "entailment", "contradiction", "neutral"] * 30
    files = [
        write(tmp_path / "one", ["neutral"] * 120),
        write(tmp_path / "two", [*gold[:100], *["neutral"] * 20]),
    ]
    arguments = ["--references", write(tmp_path / "gold", gold), "--metrics", "accuracy"]
    (table,) = compared(capsys, *files, *arguments)["tables"]
    assert [row["scores"]["accuracy"]["value"] for row in table["rows"]] == [
        50.0,
        pytest.approx(100 * 110 / 120),
    ]
    assert (table["rows"][1]["difference"], table["rows"][1]["corrected"]) == (
        pytest.approx(500 / 12),
        1 / 1001,
    )


def test_runs_configurations_and_sweeps(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    storage = ["--storage", runs.root]
    by_address = compared(capsys, "aa", "bb", *storage)
    (table,) = by_address["tables"]
    base, better = table["rows"]
    assert (base["name"], base["seeds"], better["seeds"], better["time_factor"]) == (
        "base",
        [1, 2],
        [1, 2],
        2.5,
    )
    assert better["corrected"] < 0.05
    assert compared(capsys, f"{runs.root}/runs/{'aa' * 8}", "runs/bb", *storage) == by_address
    single = compared(capsys, f"{runs.root}/runs/{'aa' * 8}/seed-2", "bb/seed-1", *storage)[
        "tables"
    ][0]
    assert [row["seeds"] for row in single["rows"]] == [[2], [1]]
    assert single["rows"][1]["tested"]["over"] == "sentences"
    two_seeds = compared(capsys, "aa/seed-1", "aa/seed-2", *storage)["tables"][0]
    assert [row["name"] for row in two_seeds["rows"]] == ["base aaaa seed 1", "base aaaa seed 2"]
    runs.run("later", "cc" * 8, 1, None)
    runs.sweep("beta", {"beta=0": "aa" * 8, "beta=5": "bb" * 8, "beta=9": "cc" * 8})
    for word in ("sweeps/beta", f"{runs.root}/sweeps/beta/"):
        assert main(["compare", word, *storage, "--json"]) == 0
        out, error = capsys.readouterr()
        names = [row["name"] for row in json.loads(out)["tables"][0]["rows"]]
        assert names == ["beta=0", "beta=5"]
        assert "without scores, and left out: beta=9" in error
    assert main(["compare", "aa", "sweeps/beta", *storage, "--json"]) == 0
    out, error = capsys.readouterr()
    assert [row["name"] for row in json.loads(out)["tables"][0]["rows"]] == ["base", "beta=5"]
    assert "beta=0 is compared already" in error


def test_what_a_sweep_chose_is_corrected_like_all_others(
    runs: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was chosen by these trainings."""
    for seed in (1, 2):
        runs.run("third", "cc" * 8, seed, 0.28)
    runs.sweep("beta", {"0": "aa" * 8, "5": "bb" * 8, "9": "cc" * 8}, chosen="bb" * 8)
    storage = ["--storage", runs.root]
    tables = [
        compared(capsys, *words, *storage)["tables"][0]["rows"]
        for words in (("sweeps/beta",), ("aa", "bb", "cc"))
    ]
    of_sweep, of_runs = ([row["corrected"] for row in rows] for rows in tables)
    assert of_sweep == of_runs


def test_formats(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", "aa", "bb", "--storage", runs.root, "--format"]
    assert main([*arguments, "csv"]) == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(line["system"], line["metric"]) for line in lines] == [
        ("base", "bleu"),
        ("base", "chrf"),
        ("better", "bleu"),
        ("better", "chrf"),
    ]
    assert main([*arguments, "latex"]) == 0
    assert r"\toprule" in capsys.readouterr().out
    assert main([*arguments, "markdown"]) == 0
    assert capsys.readouterr().out.startswith("### test\n")


def test_systems_that_cannot_be_compared_are_rejected(
    runs: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    storage = ["--storage", runs.root]
    runs.run("elsewhere", "cc" * 8, 1, 0.3, test="flores")
    assert "no test set in common (base: test; elsewhere: flores)" in refused(
        capsys, "aa", "cc", *storage
    )
    runs.run("changed", "dd" * 8, 1, 0.3, text="0" * 16)
    assert (
        f"test is not one text: base is scored on {'7e57' * 4}, changed on {'0' * 16}"
        in refused(capsys, "aa", "dd", *storage)
    )
    runs.run("other metric", "ee" * 8, 1, 0.3, metrics=["chrf"])
    assert "other metric is not scored by BLEU on test, as base is" in refused(
        capsys, "aa", "ee", *storage
    )
    lowered = runs.run("lowered", "ff" * 8, 1, 0.3)
    scores = lowered.read_record("scores.json")
    scores["tests"]["test"][1]["signature"] = "nrefs:1|case:lc"
    lowered.write_record("scores.json", scores)
    assert "chrF on test is not measured in one way: base has nrefs:1|case:mixed" in refused(
        capsys, "aa", "ff", *storage
    )
    runs.run("young", "ab" * 8, 1, None)
    assert "young has no scores yet" in refused(capsys, "bb", "ab", *storage)
    assert "belongs to two of the systems" in refused(capsys, "aa", "aa/seed-1", *storage)
    assert "base is the only system" in refused(capsys, "aa", *storage)
    runs.sweep("young", {"beta=0": "ab" * 8, "beta=5": "bb" * 8})
    assert "the reference of sweep young has no scores yet" in refused(
        capsys, "sweeps/young", *storage
    )
    assert "--metrics is for files of hypotheses" in refused(
        capsys, "aa", "bb", "--metrics", "ter", *storage
    )
    assert "no sweep 'yung'" in refused(capsys, "sweeps/yung", *storage)


def test_files_that_do_not_match_are_rejected(
    texts: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    short = write(Path(texts["reference"]).parent / "short.txt", REFERENCES[:-1])
    arguments = ["--references", texts["reference"], "--language", "en"]
    assert "short.txt has 119 lines" in refused(capsys, texts["base-1"], short, *arguments)
    assert "is listed twice in" in refused(
        capsys, texts["base-1"], f"{texts['base-2']},{texts['base-2']}", *arguments
    )
    assert "--references FILE" in refused(capsys, texts["base-1"], texts["base-2"])
    assert "no file 'nowhere'" in refused(capsys, texts["base-1"], "nowhere", *arguments)
    assert "unknown metric 'bleau'" in refused(
        capsys, texts["base-1"], texts["base-2"], *arguments, "--metrics", "bleau"
    )


def test_the_mean_over_test_sets_comes_first(
    runs: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(runs.root)
    for address in ("aa", "bb"):
        for seed in (1, 2):
            run = store.folder("runs", f"{address * 8}/seed-{seed}")
            content = run.read_record("scores.json")
            lines = hypotheses({"aa": 0.4, "bb": 0.1}[address], f"second {address} {seed}")
            scores = score(lines, REFERENCES, language="en", metrics=["bleu", "chrf"], samples=10)
            write_statistics(run, "second", scores)
            content["tests"]["second"] = [result.to_dict() for result in scores]
            run.write_record("scores.json", content)
    storage = ["--storage", runs.root]
    mean, first, second = compared(capsys, "aa", "bb", *storage)["tables"]
    assert [table["test"] for table in (mean, first, second)] == ["mean", "test", "second"]
    for row in (0, 1):
        expected = [table["rows"][row]["scores"]["bleu"]["value"] for table in (first, second)]
        assert mean["rows"][row]["scores"]["bleu"]["value"] == pytest.approx(sum(expected) / 2)
    assert mean["rows"][1]["tested"]["low"] > 0 and mean["rows"][1]["corrected"] < 0.05
