from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core import config
from augury.core.errors import UserError
from augury.experiments.spec import parse
from augury.experiments.systems import expand, load
from tests import tiny

BASE: dict[str, Any] = {
    "name": "toy",
    "task": "nmt",
    "corpus": {
        "source_language": "de",
        "target_language": "en",
        "train": {"builtin": 50},
        "valid": {"builtin": 5},
    },
    "augment": [{"operator": "cipher", "keys": [1]}],
    "regime": {"name": "coregularised", "beta": 2},
}
SHIPPED = sorted((Path(__file__).parents[2] / "search_spaces" / "experiments").glob("*.yaml"))


def test_the_plain_baseline_stands_beside_the_system() -> None:
    compared: Any = expand(parse(BASE))
    assert list(compared) == ["baseline", "toy"]
    assert compared["baseline"].augment == () and compared["baseline"].regime.name == "plain"
    assert compared["toy"].regime.beta == 2
    assert list(expand(parse({**BASE, "baseline": False}))) == ["toy"]
    assert list(expand(parse({**BASE, "augment": [], "regime": "plain"}))) == ["toy"]


def test_named_systems_differ_by_their_dotted_keys() -> None:
    compared: Any = expand(
        parse(
            {
                **BASE,
                "systems": {
                    "plain": {"regime": "plain", "augment": []},
                    "stronger": {"regime.beta": 7},
                },
            }
        )
    )
    assert list(compared) == ["plain", "stronger"]
    assert compared["stronger"].regime.beta == 7 and len(compared["stronger"].augment) == 1


def test_presets_in_systems_count() -> None:
    systems: Any = expand(
        parse(
            {
                **BASE,
                "systems": {
                    "paper": {},
                    "code": {"training.preset": "released_code", "regime.preset": "released_code"},
                },
            }
        )
    )
    paper, code = systems.values()
    assert (paper.training.warmup_updates, code.training.warmup_updates) == (8000, 6000)
    assert code.regime.warmup_views == "cipher" and code.regime.beta == 2


def test_the_baseline_keeps_the_label_smoothing() -> None:
    smoothed = parse({**BASE, "regime": {"name": "coregularised", "label_smoothing": 0.3}})
    assert expand(smoothed)["baseline"].regime.label_smoothing == 0.3  # type: ignore[attr-defined]
    with pytest.raises(UserError, match="choose another"):
        expand(parse({**BASE, "name": "baseline"}))


def test_an_experiment_survives_being_written_and_read() -> None:
    experiment = parse(BASE)
    assert parse(experiment.to_dict()) == experiment


def test_what_experiments_on_the_same_pairs_have_in_common_is_trained_once() -> None:
    known, views = (expand(load(path)) for path in SHIPPED if path.stem.startswith("multi30k_5k"))
    assert list(known) == ["baseline", "R-Drop", "CipherDAug 1 key"]
    for name, system in known.items():
        assert views[name].model_copy(update={"name": system.name}) == system


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_experiments_are_valid(path: Path) -> None:
    assert expand(load(path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "nmtt"}, "unknown task 'nmtt': did you mean 'nmt'?"),
        ({"regim": 1}, "unknown key 'regim': did you mean 'regime'?"),
        ({"regime": {"name": "coregularised", "beta": -1}}, "beta = -1: must be at least 0"),
        ({"augment": []}, "needs views, and the experiment has none"),
        ({"seeds": [1, 1]}, "seeds .* repeat"),
        ({"seeds": 3}, r"for 3 seeds write \[1, 2, 3\], for the single seed 3 \[3\]"),
        ({"seeds": 50}, r"for 50 seeds write \[1, 2, ..., 50\]"),
        (
            {
                "augment": [
                    {"operator": "cipher", "keys": [1]},
                    {"operator": "cipher", "keys": [1], "min_count": 2},
                ]
            },
            "one name",
        ),
        ({"model": {"max_positions": 64}}, "exceed model.max_positions=64"),
        (
            {"regime": {"name": "coregularised", "divergence": "js", "tau": 2}},
            "supports neither tau nor detach",
        ),
        ({"name": "a/b"}, "name: 'a/b'"),
        ({"corpus": {"source_language": "de"}}, "'corpus.target_language' is required"),
    ],
)
def test_errors_name_key_and_remedy(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse({**BASE, **change})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", ".."),
        ("name", "x" * 300),
        ("seeds", [True]),
        ("seeds", [-1]),
        ("seeds", [10**20]),
        ("training.learning_rate", float("1e400")),
        ("regime.beta", float("nan")),
        ("training.workers", 10**9),
        ("decoding.beam", 10**12),
    ],
)
def test_values_that_no_run_can_have_are_refused(key: str, value: Any) -> None:
    with pytest.raises(UserError, match=key.rpartition(".")[2]):
        parse(config.merge(BASE, {key: value}))


def test_faults_have_the_line_of_the_file_or_the_override(tmp_path: Path) -> None:
    path = tmp_path / "toy.yaml"
    path.write_text(
        "name: toy\ntask: nmt\ncorpus:\n  source_language: german\n  target_language: en\n  train: "
        "{builtin: 0}\n"
        "seeds: 3\nregime: {name: coregularised, betta: 1}\n"
    )
    with pytest.raises(UserError) as raised:
        load(path, {"training.max_tokens": "x", "training.max_updates": "y"})
    title, *faults = str(raised.value).splitlines()
    assert str(path) in title
    assert [(fault.split(":")[0].strip(), fault.split()[-1]) for fault in faults] == [
        ("line 4", "code)"),
        ("line 6", "1"),
        ("line 7", "[3]"),
        ("line 8", "'beta'?"),
        ("--set training.max_tokens", "number"),
        ("--set training.max_updates", "number"),
    ]


def test_faults_of_a_system_have_its_line(tmp_path: Path) -> None:
    path = tmp_path / "toy.yaml"
    path.write_text(
        "name: toy\ntask: nmt\ncorpus: {source_language: de, target_language: en, train: {builtin: "
        "9}}\nsystems:\n"
        "  plain: {}\n  large:\n    training.max_tokens: -1\n"
    )
    with pytest.raises(
        UserError, match="line 7: systems.large.training.max_tokens = -1: must be more than 0"
    ):
        load(path)


def test_faults_name_the_file_that_holds_the_line(tmp_path: Path) -> None:
    """A value of the base, one of the file, and one key of the base that is right."""
    (tmp_path / "base.yaml").write_text(
        "task: nmt\ncorpus: {source_language: de, target_language: en, train: {builtin: 9}}\n"
        "training:\n  max_tokens: -1\n  patience: 0\n  workers: 1\n"
    )
    path = tmp_path / "mine.yaml"
    path.write_text("extends: base.yaml\nname: mine\ntraining:\n  patience: x\n")
    with pytest.raises(UserError) as error:
        load(path)
    title, *faults = str(error.value).splitlines()
    assert str(path) in title and [fault.split(": ")[0].strip() for fault in faults] == [
        f"{tmp_path}/base.yaml, line 4",
        "line 4",
    ]
    path.write_text("extends: base.yaml\nname: mine\ntraining: {max_tokens: 9, patience: 7}\n")
    loaded = load(path, {"training.patience": 8})
    assert (loaded.training.max_tokens, loaded.training.patience) == (9, 8)


def test_faults_of_an_operators_model_stand_at_the_operator(tmp_path: Path) -> None:
    path = tmp_path / "toy.yaml"
    path.write_text(
        "name: toy\ntask: nli\ncorpus: {language: qaa, train: {builtin: 9}, valid: {builtin: "
        "9}}\naugment:\n"
        "  - operator: reorder\n    parallel: {source_language: qaa, target_language: qab, train: "
        "{builtin: 9}, "
        "valid: {builtin: 9}}\n    training: {max_tokenz: 1}\n"
    )
    with pytest.raises(
        UserError, match="line 5: augment.0: its reorderer: unknown key 'training.max_tokenz'"
    ):
        load(path)


def test_a_file_and_overrides(tmp_path: Path) -> None:
    path = tmp_path / "toy.yaml"
    path.write_text(
        "name: toy\ntask: nmt\ncorpus: {source_language: de, target_language: en, train: {builtin: "
        "9}}\n"
    )
    assert load(path, {"training.max_tokens": 77, "seeds": [4, 5]}).training.max_tokens == 77
    with pytest.raises(UserError, match="needs 'task:'"):
        load(path, {"task": None})


@pytest.mark.parametrize("regime", ["plain", {"name": "coregularised", "preset": "r_drop"}])
def test_views_that_nobody_reads_are_refused(regime: Any) -> None:
    with pytest.raises(
        UserError, match="does not read the view rot-1: leave its operator out of augment"
    ):
        parse({**BASE, "regime": regime})
    shared = {
        **BASE,
        "regime": regime,
        "systems": {"plain": {"augment": []}, "all": {"regime": "multi_source"}},
    }
    assert list(expand(parse(shared))) == ["plain", "all"]
    with pytest.raises(
        UserError, match="system plain is not valid:(.|\n)*does not read the view rot-1"
    ):
        expand(parse({**shared, "systems": {"plain": {}}}))


def test_a_draw_may_be_given_for_either_side_but_not_twice_the_same() -> None:
    source, target = (
        {"operator": "word_drop", "side": side, "tau": tau}
        for side, tau in (("source", 0.9), ("target", 0.95))
    )
    plain = {**BASE, "regime": "plain"}
    assert [draw.side for draw in parse({**plain, "augment": [source, target]}).token_draws] == [
        "source",
        "target",
    ]
    with pytest.raises(
        UserError, match="operator word_drop twice with the same settings: change its seed"
    ):
        parse({**plain, "augment": [source, source]})


def test_text_is_not_segmented_anew_where_subwords_are_a_pretrained_models(tmp_path: Path) -> None:
    draw = {"operator": "bpe_dropout"}
    assert tiny.experiment("nmt", tmp_path, augment=[draw]).token_draws
    for task in ("nli", "seq2seq"):
        with pytest.raises(UserError, match=f"operator bpe_dropout segments anew, and task {task}"):
            tiny.experiment(task, tmp_path, augment=[draw])


@pytest.mark.parametrize("task", ["nli", "seq2seq"])
def test_defaults_of_training_follow_whether_a_model_starts_from_nothing(
    task: str, tmp_path: Path
) -> None:
    scratch = {
        key: value for key, value in tiny.content(task, tmp_path).items() if key != "training"
    }
    pretrained = {key: value for key, value in scratch.items() if key != "model"}
    tuned, learned = parse(pretrained).training, parse(scratch).training
    assert learned.learning_rate > 5 * tuned.learning_rate
    assert learned.patience > tuned.patience
    assert (learned.max_epochs or 0) > (tuned.max_epochs or 0)

    explicit = parse({**scratch, "training": {"learning_rate": 0.5}})
    assert (explicit.training.learning_rate, explicit.training.patience) == (0.5, learned.patience)
    assert explicit.to_dict()["training"]["max_epochs"] == learned.max_epochs
    assert parse(explicit.to_dict()) == explicit
    paper = parse({**scratch, "training": {"preset": "paper"}}).training
    assert (paper.learning_rate, paper.patience) == (tuned.learning_rate, tuned.patience)

    both = {**pretrained, "systems": {"tuned": {}, "learned": {"model": scratch["model"]}}}
    assert [system.training for system in expand(parse(both)).values()] == [tuned, learned]
