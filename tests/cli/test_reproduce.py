"""`augury reproduce`: rows that are run, computed or not run, dry runs and the list of tables."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.cli import main

TABLE = str(Path(__file__).with_name("quick_table.py"))
FAST = ["--set", "training.max_updates=16"]
SMALL = [
    "--set",
    "training.max_epochs=1",
    "--set",
    "corpus.train.builtin=100",
    "--set",
    "vocabulary.size=300",
]


def command(storage: Path, *flags: str) -> list[str]:
    return ["reproduce", TABLE, "--storage", str(storage), "--seeds", "1", *FAST, *flags]


@pytest.mark.slow
def test_missing_rows_are_run_and_every_row_is_shown(
    local_ray: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ("--rows", "no agreement", "no agreement, flatter", "no model")
    assert main(command(tmp_path, "--json", *rows)) == 1  # a row fails
    result = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row for row in result["rows"]}
    assert {name: row["status"] for name, row in rows.items()} == {
        "baseline": "measured",
        "agreement": "left out",
        "no agreement": "measured",
        "no agreement, flatter": "measured",
        "no model": "failed",
        "oracle": "not run",
    }
    assert rows["no model"]["why"].startswith("seed 1 failed: Diverged: update")
    assert rows["no agreement, flatter"]["why"].startswith(
        "runs once, as no agreement: regime.tau has no effect"
    )
    assert rows["no agreement, flatter"]["address"] == rows["no agreement"]["address"]
    assert rows["oracle"]["why"] == "reads the references"
    baseline = rows["baseline"]
    assert list(baseline["tests"]) == ["mean", "long", "short"]
    assert baseline["published"] == {"mean": 12.0, "long": 11.0}
    file = tmp_path / f"runs/{baseline['address']}/seed-1/scores.json"
    values = [scores[0]["value"] for scores in json.loads(file.read_text())["tests"].values()]
    assert baseline["measured"] == pytest.approx(sum(values) / 2)
    assert (result["comparable"], result["reused"]) == (False, 0)
    assert result["cost"]["train_seconds"] > 0
    assert Path(result["page"]).stat().st_size > 1_000_000


@pytest.mark.slow
@pytest.mark.long
def test_measured_values_are_kept_with_the_sweep(
    local_ray: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["reproduce", "cipherdaug/table1", "--storage", str(tmp_path), "--json"]
    outputs = []
    for _ in range(2):
        assert main([*arguments, *SMALL]) == 0
        outputs.append(json.loads(capsys.readouterr().out))
    rows = [{row["name"]: row for row in output["rows"]} for output in outputs]
    assert rows[0] == rows[1] and outputs[1]["reused"] == 1
    tests = rows[0]["toy"]["tests"]
    assert tests["total"]["measured"] >= tests["s∪t"]["measured"] > tests["src"]["measured"] > 100
    assert rows[0]["IWSLT14 De→En"]["tests"]["total"]["published"] == 20_000


@pytest.mark.slow
@pytest.mark.long
def test_runs_are_measured_with_the_baseline_of_their_seed(
    local_ray: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["reproduce", "cipherdaug/figure5", "--storage", str(tmp_path), "--seeds", "1"]
    assert main([*arguments, "--json", *SMALL]) == 0
    output = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row for row in output["rows"]}
    cipher = rows["CipherDAug-2 keys"]["tests"]
    matrices = {name.partition(" |")[0] for name in cipher if "|" in name}
    views = ("plain", "rot-1", "rot-2")
    assert matrices == {
        f"{first} (rows) by {view} (columns)"
        for first in ("baseline plain", "plain")
        for view in views
    }
    layers = [value["measured"] for name, value in cipher.items() if "|" in name]
    assert len(layers) == 6 * 4 and all(0 < value <= 1 for value in layers)
    assert len(rows["Transformer"]["tests"]) == 2 + 4
    page = Path(output["page"]).read_text(encoding="utf-8")
    assert "CipherDAug-2 keys: baseline plain (rows) by rot-2 (columns)" in page
    kept = json.loads((tmp_path / "sweeps/cipherdaug-figure5-toy/measured.json").read_text())
    addresses = [rows[name]["address"] for name in ("Transformer", "CipherDAug-2 keys")]
    baseline, cipher_run = (f"runs/{address}/seed-1" for address in addresses)
    assert set(kept) - {"schema", "checksum"} == {
        f"{baseline} version 2",
        f"{baseline} {cipher_run} version 2",
    }


def test_a_dry_run_shows_rows_and_addresses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(tmp_path, "--dry-run", "--rows", "agreement", "--json")) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [configuration["name"] for configuration in shown["configurations"]] == [
        "baseline",
        "agreement",
    ]
    assert main(command(tmp_path, "--dry-run")) == 0
    out = capsys.readouterr().out
    assert all(configuration["address"] in out for configuration in shown["configurations"])
    assert "no agreement, flatter: as no agreement: regime.tau has no effect" in out
    assert "4 configurations, at most 4 trials, scheduler all" in out
    assert not list(tmp_path.glob("runs/*"))


@pytest.mark.parametrize(
    ("table", "row", "about"),
    [
        # 160,239 pairs of 26 subwords, 20,000 tokens: 208.3
        ("cipherdaug/table2", "20 keys, eq. 2", ("20,000 tokens", 209, 840, 12_600)),
        ("noisy_nmt/table3", "Tune-S", ("32,768 tokens", 42_397, 5_000, 80_000)),
        ("noisy_nmt/table3", "Tune-S, stage tune", ("32,768 tokens", None, None, None)),
        ("xnli_adversarial/table4", "XLM-R (10k)", ("4,096 tokens or 32 examples", 313, 313, 939)),
    ],
)
def test_settings_are_resolved_without_any_text(
    table: str,
    row: str,
    about: tuple[Any, ...],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("AUGURY_DATA", str(tmp_path))
    name = row.partition(",")[0] if "stage" in row else row
    asked = ["reproduce", table, "--scale", "paper", "--row", name, "--resolved"]
    assert main([*asked, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert next(iter(shown)) == name and tuple(shown[row]["about"].values()) == about
    assert main([*asked, "--set", "training.patience=7"]) == 0
    text = yaml.safe_load_all(re.sub(r"(?m)^# ", "---\n# ", capsys.readouterr().out))
    resolved = dict(zip(shown, text, strict=False))
    assert resolved[name]["settings"] == {
        **shown[name]["settings"],
        "training": {**shown[name]["settings"]["training"], "patience": 7},
    }


def test_a_dry_run_shows_published_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["reproduce", "xnli_adversarial/table4", "--storage", str(tmp_path)]
    assert main([*arguments, "--dry-run", "--json", "--rows", "Improvement(%) (10k)"]) == 0
    shown = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row for row in shown["rows"]}
    assert [row["row"] for row in shown["rows"]] == list(range(1, 11))
    plain, improved = rows["XLM-R (20k)"]["published"], rows["Improvement(%) (10k)"]
    assert (len(plain), plain["mean"], plain["sw"]) == (16, 69.0, 61.6)
    assert (improved["section"], improved["printed"]) == ("10k", "Improvement(%)")
    assert improved["published"]["mean"] == 6.7
    assert [note["column"] for note in improved["notes"]] == ["zh"]
    run = [name for name, row in rows.items() if row["address"]]
    assert run == ["XLM-R (10k)", "+RA +SA +PGD (10k)", "XLM-R (20k)"]  # the last is the reference
    addresses = {configuration["address"] for configuration in shown["configurations"]}
    assert addresses == {rows[name]["address"] for name in run}


def test_without_arguments_it_lists_all_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce"]) == 0
    out = capsys.readouterr().out
    assert "xnli_adversarial/table2: Which augmentations help" in out
    assert "XLM-R | +PGD | +EA(80k) |" in out
    assert main(["reproduce", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    papers = {entry["table"].partition("/")[0] for entry in listed}
    assert papers == {"cipherdaug", "noisy_nmt", "xnli_adversarial"}
    xnli = [entry["where"] for entry in listed if entry["table"].startswith("xnli")]
    assert xnli == ["Table 2", "Table 3", "Table 4", "Table 5", "Figure 2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "xnli_adversarial/table9"], "unknown table '.*/table9': did you mean"),
        (["reproduce", TABLE, "--rows", "agrement"], "did you mean 'agreement'"),
        (["reproduce", TABLE, "--rows", "oracle"], "cannot be run: reads the references"),
        (["reproduce", TABLE, "--scale", "small"], "unknown scale of search space"),
        (["reproduce", TABLE, "--set", "regime.beta=1"], "sweeps this key"),
    ],
)
def test_invalid_arguments_are_rejected(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--storage", str(tmp_path)]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert not list(tmp_path.glob("runs/*"))
