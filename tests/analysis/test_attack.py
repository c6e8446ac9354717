"""Attacks on a trained classifier: a larger radius raises the loss more, and the chosen one by as
much as was asked for."""

from __future__ import annotations

import json

import pytest

from augury.analysis.attack import AttackAnalysis, choose
from augury.cli import main
from augury.experiments.run import Run
from augury.sweeping.driver import run_experiment
from tests import tiny


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    runs, failures, *_ = run_experiment(tiny.experiment("nli", tmp_path_factory.mktemp("attack")))
    assert not failures
    return Run.read(next(folder for seeds in runs.values() for folder in seeds.values()))


@pytest.mark.trains
def test_the_loss_rises_with_the_radius(run: Run) -> None:
    strengths = AttackAnalysis(radii=(0.1, 0.01, 0.3), examples=20).strengths(run)
    assert strengths["epsilon"].tolist() == [0.01, 0.1, 0.3]
    assert strengths["nll_before"].nunique() == 1
    assert strengths["rise"].is_monotonic_increasing and strengths["rise"][0] > 0
    assert strengths["perturbation"].between(0, strengths["epsilon"] * (1 + 1e-4)).all()
    assert not strengths["projected_steps"].any()
    farther = AttackAnalysis(radii=(0.1,), examples=20, alpha_share=3.0).strengths(run)
    assert farther["projected_steps"][0] > 0


@pytest.mark.trains
def test_a_classifier_is_attacked_though_it_translates_nothing(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--set", "attack.radii=[0.1]", "--set", "attack.examples=8", "--json"]
    assert main(["analyze", run.folder.uri, *flags]) == 0
    assert [*json.loads(capsys.readouterr().out)] == ["attack"]
    assert main(["analyze", run.folder.uri, "--which", "outputs"]) == 2


def test_the_radius_is_between_those_measured() -> None:
    radii, rises = (0.01, 0.1), (0.1, 1.1)
    assert choose(radii, rises, 0.6) == pytest.approx(0.01 * 10**0.5)
    ends = [choose(radii, rises, rise) for rise in (0.05, 5.0)]
    assert ends == [pytest.approx(radius) for radius in radii]
