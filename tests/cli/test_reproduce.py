"""`augury reproduce`: rows that are run, computed or not run, and dry runs."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from augury.core.config import flatten
from tests.cli.conftest import Augury

TABLE = str(Path(__file__).with_name("quick_table.py"))
FAST = ["--seeds", "1", "--set", "training.max_updates=16"]
SMALL = [
    *("--set", "training.max_epochs=1"),
    *("--set", "corpus.train.builtin=100"),
    *("--set", "vocabulary.size=300"),
]


@pytest.mark.slow
def test_missing_rows_are_run_and_every_row_is_shown(
    local_ray: Any, tmp_path: Path, augury: Augury
) -> None:
    words = [TABLE, "--storage", tmp_path, *FAST, "--json"]
    words += ["--rows", "no agreement", "no agreement, flatter", "no model"]
    result = augury("reproduce", *words, code=1).json  # a row fails
    rows = {row["row"]: row for row in result["rows"]}
    assert {name: row["status"] for name, row in rows.items()} == {
        "baseline": "measured",
        "agreement": "left out",
        "no agreement": "measured",
        "no agreement, flatter": "measured",
        "no model": "failed",
        "oracle": "not run",
    }
    assert rows["no model"]["why"].startswith("seed 1 failed: Diverged: update")
    assert rows["no agreement, flatter"]["address"] == rows["no agreement"]["address"]
    baseline = rows["baseline"]
    published = {name: baseline["cells"][name]["published"] for name in ("mean", "long")}
    assert published == {"mean": 12.0, "long": 11.0}
    scores = json.loads((tmp_path / f"runs/{baseline['address']}/seed-1/scores.json").read_text())
    values = [of_test[0]["value"] for of_test in scores["tests"].values()]
    assert baseline["cells"]["mean"]["measured"] == pytest.approx(mean(values)) and len(values) == 2
    assert "reads the references" in Path(result["page"]).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.long
def test_runs_are_measured_with_the_baseline_of_their_seed(
    local_ray: Any, tmp_path: Path, augury: Augury
) -> None:
    words = ["cipherdaug/figure5", "--storage", tmp_path, "--seeds", 1, "--json", *SMALL]
    first, again = (augury("reproduce", *words).json for _ in range(2))
    assert first["rows"] == again["rows"] and again["reused"] > 0
    rows = {row["row"]: row for row in first["rows"]}
    cipher = rows["CipherDAug-2 keys"]["cells"]
    layers = [value["measured"] for name, value in cipher.items() if "|" in name]
    assert len(layers) == 6 * 4 and all(0 < value <= 1 for value in layers)
    assert len(rows["Transformer"]["cells"]) == 2 + 4 + 1  # and its score
    kept = json.loads((tmp_path / "sweeps/cipherdaug-figure5-toy/measured.json").read_text())
    addresses = [rows[name]["address"] for name in ("Transformer", "CipherDAug-2 keys")]
    baseline, cipher_run = (f"runs/{address}/seed-1" for address in addresses)
    assert set(kept) - {"schema", "checksum"} == {
        baseline,
        f"{baseline} {cipher_run}",
    }


def test_a_dry_run_shows_rows_and_addresses(tmp_path: Path, augury: Augury) -> None:
    words = ["reproduce", TABLE, "--storage", tmp_path, *FAST, "--dry-run"]
    planned = augury(*words, "--rows", "agreement", "--json").json["configurations"]
    assert [configuration["name"] for configuration in planned] == ["baseline", "agreement"]
    asked = augury(*words, "--rows", "agreement", "--reference", "no agreement", "--json").json
    names = [configuration["name"] for configuration in asked["configurations"]]
    assert names == ["baseline", "agreement", "no agreement"]
    out = augury(*words).out
    assert all(configuration["address"] in out for configuration in planned)
    assert "no agreement, flatter: – (as no agreement: regime.tau has no effect" in out
    assert "4 configurations, at most 4 trials, scheduler all" in out
    assert not list(tmp_path.glob("runs/*"))


@pytest.mark.parametrize(
    ("table", "row", "about", "settings"),
    [
        # 160,239 pairs of 26 subwords, 20,000 tokens: 208.3
        (
            "cipherdaug/table2",
            "20 keys, eq. 2",
            ("20,000 tokens", 209, 840, 12_600, 4_200),
            {
                "corpus.filter.max_length corpus.filter.max_ratio": (175, 1.5),
                "corpus.filter.lowercase model.encoder_layers": (True, 6),
                "model.hidden_size model.feedforward_size model.attention_heads": (512, 1024, 4),
            },
        ),
        (
            "cipherdaug/table11",
            "Transformer, dropout 0.1",
            ("20,000 tokens", 209, 840, 12_600, 4_200),
            {"model.dropout model.attention_dropout": (0.1, 0.1)},
        ),
        (
            "noisy_nmt/table3",
            "Tune-S",
            ("32,768 tokens", 42_397, 5_000, 80_000),
            {
                "model.norm model.attention_dropout model.activation_dropout": ("pre", 0.1, 0.1),
                "corpus.filter.max_length corpus.filter.lowercase": (70, False),
            },
        ),
        (
            "xnli_adversarial/table4",
            "XLM-R (10k)",
            ("4,096 tokens or 32 examples", 313, 313, 939),
            {"training.learning_rate": (1e-5,)},
        ),
    ],
)
def test_settings_are_resolved_without_any_text(
    table: str,
    row: str,
    about: tuple[Any, ...],
    settings: dict[str, tuple[Any, ...]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    augury: Augury,
) -> None:
    monkeypatch.setenv("AUGURY_DATA", str(tmp_path))
    asked = ["reproduce", table, "--scale", "paper", "--rows", row, "--resolved", "--json"]
    shown = augury(*asked).json
    assert next(iter(shown)) == row and tuple(shown[row]["about"].values()) == about
    flat = flatten(shown[row]["settings"])
    for keys, values in settings.items():
        assert tuple(flat[key] for key in keys.split()) == values
    assert "null" not in json.dumps(shown) and "{}" not in json.dumps(shown)


def test_every_row_is_resolved_from_its_own_settings(augury: Augury) -> None:
    shown = augury(
        "reproduce", "cipherdaug/table9", "--scale", "paper", "--resolved", "--json"
    ).json
    models = [shown[row]["settings"]["model"]["embeddings"]["name"] for row in shown]
    regimes = [shown[row]["settings"]["regime"]["name"] for row in shown]
    assert models == ["table", "table", *4 * ["alone"]]
    assert regimes == 3 * ["plain", "coregularised"]


def test_a_dry_run_shows_published_values(tmp_path: Path, augury: Augury) -> None:
    words = ["xnli_adversarial/table4", "--storage", tmp_path, "--dry-run", "--json"]
    shown = augury("reproduce", *words, "--rows", "Improvement(%) (10k)").json
    rows = {row["row"]: row for row in shown["rows"]}
    values = rows["XLM-R (20k)"]["published"]
    assert (len(values), values["mean"], values["sw"]) == (16, 69.0, 61.6)
    improved = rows["Improvement(%) (10k)"]
    assert improved["published"]["mean"] == 6.7
    run = [name for name, row in rows.items() if row["address"]]
    # Both rows of the improvement, and the reference.
    assert run == ["XLM-R (10k)", "+RA +SA +PGD (10k)", "XLM-R (20k)"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["xnli_adversarial/table9"], "unknown table 'xnli_adversarial/table9': did you mean"),
        ([TABLE, "--rows", "agrement"], "did you mean 'agreement'"),
        ([TABLE, "--rows", "oracle"], "cannot be run: reads the references"),
        ([TABLE, "--set", "regime.beta=1"], "sweeps this key"),
    ],
)
def test_invalid_arguments_are_rejected(
    words: list[str], message: str, tmp_path: Path, augury: Augury
) -> None:
    assert message in augury("reproduce", *words, "--storage", tmp_path, code=2).error
    assert not list(tmp_path.glob("runs/*"))
