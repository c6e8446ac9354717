from __future__ import annotations

import codecs
import gzip
import random
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

from augury.scoring.scores import score
from tests.cli.conftest import Augury
from tests.run_folders import Results, Sweeps

TEXT = "the a of to house dog cat runs sleeps green old well in on and"
WORDS = TEXT.split()
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


def translated(
    runs: Results, name: str, address: str, seed: int, rate: float, **options: Any
) -> None:
    """A run scored on translations with this error rate."""
    lines = hypotheses(rate, f"{name} {seed}")
    metrics = options.pop("metrics", ("bleu", "chrf"))
    scores = score(lines, REFERENCES, language="en", metrics=metrics)
    test = options.get("test", "test")
    runs.run(name, address, seed, tests={test: scores}, **options)


@pytest.fixture
def runs(tmp_path: Path) -> Results:
    storage = Results(tmp_path / "results")
    for seed in (1, 2):
        translated(storage, "base", "aa" * 8, seed, 0.30)
        translated(storage, "better", "bb" * 8, seed, 0.15, seconds=250.0)
    return storage


def swept(runs: Results, name: str, addresses: Mapping[str, str]) -> None:
    """Write a sweep over configurations, name -> address, the reference first."""
    sweep = Sweeps(runs, name)
    for configuration, address in addresses.items():
        sweep.configuration({}, configuration, address)
    sweep.load()


def tables(augury: Augury, *words: str) -> list[dict[str, Any]]:
    """Return the tables of a comparison."""
    return list(augury("compare", *words, "--json").json["tables"])


def test_files_with_seeds_are_tested_over_seeds_and_sentences(
    texts: dict[str, str], augury: Augury
) -> None:
    words = [seeds(texts, "base"), seeds(texts, "better")]
    words += ["--references", texts["reference"], "--language", "en"]
    shown = augury("compare", *words, "--json").json
    (table,) = shown["tables"]
    base, _, better, _ = table["rows"]
    assert (table["test"], base["system"], better["system"]) == ("test.en", "base-1", "better-1")
    files = [Path(texts[f"better-{seed}"]).read_text().splitlines() for seed in (1, 2, 3)]
    expected = [sacrebleu.corpus_bleu(lines, [REFERENCES]).score for lines in files]
    assert (better["metric"], better["value"]) == ("bleu", pytest.approx(sum(expected) / 3))
    assert "tok:13a" in better["signature"]
    assert better["tested_over"] == "seeds and sentences"
    assert 0 < better["difference_low"] < better["difference"] < better["difference_high"]
    assert better["p_corrected"] == better["p"] < 0.05
    text = augury("compare", *words).out
    assert "difference [95 %]" in text and "train time" not in text and shown["answer"] in text


def test_one_system_is_scored(tmp_path: Path, augury: Augury) -> None:
    """By several references, as sacreBLEU does; compressed files and those with a mark are read."""
    lines, first, second = REFERENCES[:3], REFERENCES[1:4], [*REFERENCES[:2], "a cat"]
    (tmp_path / "first.gz").write_bytes(gzip.compress("\n".join(first).encode()))
    (tmp_path / "second").write_bytes(codecs.BOM_UTF8 + "\n".join(second).encode())
    words = ["--references", tmp_path / "first.gz", tmp_path / "second"]
    words += ["--metrics", "bleu", "chrf++", "ter"]
    (table,) = tables(augury, write(tmp_path / "lines", lines), *map(str, words))
    scores = table["rows"]
    assert scores[0]["signature"].startswith("nrefs:2|bs:1000|")
    metrics = (sacrebleu.BLEU(), sacrebleu.CHRF(word_order=2), sacrebleu.TER())
    expected = [metric.corpus_score(lines, [first, second]).score for metric in metrics]
    assert [score["value"] for score in scores] == pytest.approx(expected)


def test_runs_configurations_and_sweeps(runs: Results, augury: Augury) -> None:
    storage = ["--storage", runs.store.root]
    by_address = tables(augury, "aa", "bb", *storage)
    base, _, better, _ = by_address[0]["rows"]
    assert (base["system"], base["seeds"], better["seeds"]) == ("base", [1, 2], [1, 2])
    assert better["time_factor"] == 2.5 and better["p_corrected"] < 0.05
    folder = f"{runs.store.root}/runs/{'aa' * 8}"
    assert tables(augury, folder, "runs/bb", *storage) == by_address
    two_seeds = tables(augury, f"{folder}/seed-1", "aa/seed-2", *storage)[0]["rows"]
    assert [row["system"] for row in two_seeds[::2]] == ["base aaaa seed 1", "base aaaa seed 2"]
    assert two_seeds[2]["tested_over"] == "sentences"
    runs.run("later", "cc" * 8)
    swept(runs, "beta", {"beta=0": "aa" * 8, "beta=5": "bb" * 8, "beta=9": "cc" * 8})
    for word in ("sweeps/beta", "beta"):
        done = augury("compare", word, *storage, "--json")
        names = [row["system"] for row in done.json["tables"][0]["rows"]]
        assert names[::2] == ["beta=0", "beta=5"] and "left out: beta=9" in done.error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("aa cc", "in common (base: test (bleu, chrf); elsewhere: flores (bleu, chrf))"),
        ("aa dd", "in common (base: test (bleu, chrf); labels: test (accuracy))"),
        ("bb ab", "young has no scores yet"),
        ("sweeps/yung", "the nearest are: ciphers/young/1, young/beta=5/2"),
    ],
)
def test_systems_that_cannot_be_compared_are_rejected(
    words: str, message: str, runs: Results, augury: Augury
) -> None:
    translated(runs, "elsewhere", "cc" * 8, 1, 0.3, test="flores")
    translated(runs, "labels", "dd" * 8, 1, 0.3, metrics=("accuracy",))
    runs.run("young", "ab" * 8)
    swept(runs, "young", {"beta=0": "ab" * 8, "beta=5": "bb" * 8})
    assert message in augury("compare", *words.split(), "--storage", runs.store.root, code=2).error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("{base-1} {short} --references {reference}", "short has 1 line"),
        ("{base-1} {base-2}", "--references FILE"),
        ("{base-1} {base-1} --references {reference} --language en", "base-1.txt is given twice"),
        ("{base-1} nowhere --references {reference} --language en", "no file 'nowhere'"),
        ("{short} --references {short}", "use chrf"),
        ("{short} --references {other} --metrics accuracy", "none of the labels"),
        ("{table} --references {table}", "is a table"),
    ],
)
def test_files_that_do_not_match_are_rejected(
    words: str, message: str, texts: dict[str, str], tmp_path: Path, augury: Augury
) -> None:
    rows = {"short": ["a"], "other": ["b"], "table.csv": ["text", "a"]}
    written = {name.partition(".")[0]: write(tmp_path / name, rows[name]) for name in rows}
    files = {**texts, **written}
    assert message in augury("compare", *words.format(**files).split(), code=2).error


def test_text_in_another_normal_form_is_named(tmp_path: Path, augury: Augury) -> None:
    """As it looks alike and counts as wrong."""
    composed = ["la fête a été très réussie", "une journée à l'été"]
    (tmp_path / "gold").write_text("\n".join(composed))
    for form in ("NFC", "NFD"):
        path = write(tmp_path / form, [unicodedata.normalize(form, line) for line in composed])
        done = augury("compare", path, "--references", str(tmp_path / "gold"))
        assert ("write both in NFC" in done.error) == (form == "NFD")


def test_sources_reach_a_metric_that_reads_them(
    texts: dict[str, str], tmp_path: Path, augury: Augury
) -> None:
    """The one of the documentation."""
    page = (Path(__file__).parents[2] / "docs" / "sweeps.md").read_text(encoding="utf-8")
    before, begin, rest = page.partition("class Copied")
    documented = before.rpartition("```python\n")[2] + begin + rest.partition("```")[0]
    (tmp_path / "copied.py").write_text(documented)
    lines = Path(texts["base-1"]).read_text().splitlines()
    sources = write(tmp_path / "src", [*lines[:60], *["ein Hund"] * 60])
    words = [texts["base-1"], "--references", texts["reference"]]
    words += ["--metrics", str(tmp_path / "copied.py")]
    (table,) = tables(augury, *words, "--sources", sources)
    assert [score["value"] for score in table["rows"]] == [50]
    assert "--sources" in augury("compare", *words, code=2).error
