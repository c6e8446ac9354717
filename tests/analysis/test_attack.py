"""Attacks on a trained run: a larger radius raises the loss more, and the chosen one by as much
as was asked for."""

from __future__ import annotations

import pytest

from augury.analysis.attack import Strength, calibrate, choose
from augury.core.errors import UserError
from augury.experiments.run import Run
from augury.sweeping.driver import run_experiment
from tests import tiny

pytestmark = pytest.mark.trains


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    runs, failures, _ = run_experiment(tiny.experiment("nli", tmp_path_factory.mktemp("attack")))
    assert not failures
    return Run.read(next(folder for seeds in runs.values() for folder in seeds.values()))


def strength(epsilon: float, attacked: float) -> Strength:
    return Strength(epsilon, 1.0, attacked, epsilon, 0.0)


def test_the_loss_rises_with_the_radius(run: Run) -> None:
    strengths = calibrate(run, [0.1, 0.01, 0.3], examples=20)
    assert [item.epsilon for item in strengths] == [0.01, 0.1, 0.3]
    assert len({item.clean for item in strengths}) == 1
    assert 0 < strengths[0].rise < strengths[1].rise < strengths[2].rise
    assert all(0 < item.perturbation <= item.epsilon * (1 + 1e-4) for item in strengths)


@pytest.mark.parametrize(("alpha_share", "projected"), [(1.0, False), (3.0, True)])
def test_steps_are_projected_where_they_reach_farther_than_the_radius(
    run: Run, alpha_share: float, projected: bool
) -> None:
    (measured,) = calibrate(run, [0.05], examples=8, alpha_share=alpha_share)
    assert (measured.projected_steps > 0) == projected


def test_the_radius_is_between_those_measured() -> None:
    measured = [strength(0.01, 1.1), strength(0.1, 2.1)]
    assert choose(measured, 0.6) == pytest.approx(0.01 * 10**0.5)
    assert choose(measured, 0.05) is None and choose(measured, 5.0) == 0.1


def test_a_task_without_word_embeddings_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from augury.analysis import attack

    monkeypatch.setattr(attack, "PerturbableModel", type("Nothing", (), {}))
    with pytest.raises(UserError, match="does not let word embeddings be perturbed"):
        calibrate(run, [0.1])
