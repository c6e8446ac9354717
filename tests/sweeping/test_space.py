"""Search spaces: those that ship, the definitions of a file and the errors about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.config import merge
from augury.core.errors import UserError
from augury.experiments import spec
from augury.sweeping import points, space

MINIMAL = """
QUESTION = "Does it help?"
base = {"name": "x", "task": "nmt"}
space = {"regime.beta": [0, 5]}
metric, mode = "valid/bleu", "max"
seeds = (1, 2)
"""


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "mine.py"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", space.known())
def test_every_shipped_space_is_a_valid_experiment_at_every_scale(name, tmp_path):
    for scale in ("toy", "small", "paper"):
        loaded = space.find(name, scale)
        assert loaded.question.endswith("?")
        for point in [*points.sample(loaded), *loaded.rows.values()]:
            parsed = spec.parse(merge(loaded.base, point) | {"storage": str(tmp_path)})
            assert parsed.training.validations is not None


def test_known_spaces():
    assert space.known() == [
        "agreement",
        "cipher_keys",
        "cipherdaug",
        "multi_source",
        "onset",
        "pgd",
        "vocabulary",
    ]


def test_a_file_of_the_user_works_by_path(tmp_path):
    loaded = space.find(write(tmp_path, MINIMAL))
    assert (loaded.name, loaded.scale, loaded.scheduler, loaded.search, loaded.seeds) == (
        "mine",
        "default",
        "all",
        "grid",
        (1, 2),
    )
    assert points.sample(loaded) == [{"regime.beta": 0}, {"regime.beta": 5}]


def test_scales_differ_by_dotted_keys(tmp_path):
    path = write(tmp_path, MINIMAL + 'scales = {"toy": {"training.max_updates": 9}, "big": {}}')
    assert space.find(path).base["training"] == {"max_updates": 9}
    assert "training" not in space.find(path, "big").base
    with pytest.raises(
        UserError, match="unknown scale of search space .* 'huge': allowed: big, toy"
    ):
        space.find(path, "huge")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MINIMAL.replace("seeds", "grains"), "lacks seeds"),
        (
            MINIMAL.replace("[0, 5]", "5"),
            "regime.beta: give a list of values or a domain of ray.tune, not 5",
        ),
        (MINIMAL.replace("[0, 5]", "'05'"), "regime.beta: give a list"),
        (MINIMAL.replace("[0, 5]", "[]"), "regime.beta has no values"),
        (MINIMAL.replace('{"regime.beta": [0, 5]}', "{}"), "sweeps nothing"),
        (
            MINIMAL.replace("regime.beta", "decoding.beam"),
            "key decoding.beam does not affect training: leave it out; 'augury "
            "train --set decoding.beam=...' scores trained models again",
        ),
        (MINIMAL.replace("regime.beta", "scoring.metrics"), "scores trained models again"),
        (
            MINIMAL.replace("regime.beta", "execution.threads"),
            "does not change results; '--set execution.threads=...' applies",
        ),
        (
            MINIMAL.replace("regime.beta", "tracking.enabled"),
            "'--set tracking.enabled=...' applies it to all trials",
        ),
        (MINIMAL + "mutations = {'regime.beta': 5}", "regime.beta: give a list"),
        (MINIMAL.replace('"max"', '"maximum"'), "mode is 'maximum'; allowed: max, min"),
        (MINIMAL.replace('"Does it help?"', "3"), "QUESTION must be one line of text"),
        ("import nonsense_of_mine", "cannot be imported: ModuleNotFoundError"),
    ],
)
def test_errors_about_a_file(tmp_path, text, message):
    with pytest.raises(UserError, match=message):
        space.find(write(tmp_path, text))


def test_errors_suggest_the_nearest_name():
    with pytest.raises(
        UserError, match="unknown search space 'agrement': did you mean 'agreement'"
    ):
        space.find("agrement")
    with pytest.raises(UserError, match="no search space 'no/such.py'"):
        space.find("no/such.py")


def test_drawn_points_depend_on_their_number_alone():
    drawn = space.find("agreement", search="random")
    few, many = points.sample(drawn, 3), points.sample(drawn, 5)
    assert many[:3] == few
    assert len({point["regime.beta"] for point in many}) == 5
    assert all(
        0.1 <= point["regime.beta"] <= 20 and 0.5 <= point["regime.tau"] <= 4 for point in many
    )
    with pytest.raises(UserError, match="give the number of points with --samples N"):
        points.sample(drawn)


def test_a_grid_takes_no_samples():
    with pytest.raises(UserError, match="--samples 4: space 'agreement' is a grid"):
        points.sample(space.find("agreement"), 4)


ROWS = MINIMAL.replace(
    'space = {"regime.beta": [0, 5]}', 'rows = {"plain": {}, "strong": {"regime.beta": 5}}'
)


def test_rows_are_points_with_names(tmp_path):
    loaded = space.find(write(tmp_path, ROWS))
    assert loaded.rows == {"plain": {}, "strong": {"regime.beta": 5}}
    assert (loaded.reference, loaded.search, points.sample(loaded)) == ("plain", "grid", [])
    both = space.find(write(tmp_path, MINIMAL + 'rows = {"plain": {}}\nreference = "plain"'))
    assert points.sample(both) == [{"regime.beta": 0}, {"regime.beta": 5}]
    assert list(both.rows) == ["plain"]


def test_rows_may_depend_on_the_scale(tmp_path):
    text = (
        ROWS.replace("rows = {", "rows = lambda scale: {scale: {}, ")
        + "scales = {'toy': {}, 'big': {}}"
    )
    assert list(space.find(write(tmp_path, text), "big").rows) == ["big", "plain", "strong"]


def test_radii_depend_on_the_scale():
    toy, paper = (space.find("pgd", scale) for scale in ("toy", "paper"))
    assert (
        toy.grid["regime.epsilon"] == [0.01, 0.02, 0.05]
        and toy.base["regime"]["clean_weight"] == 1
        and not toy.rows
    )
    assert (
        paper.grid["regime.epsilon"] == [0.3, 1, 3] and "clean_weight" not in paper.base["regime"]
    )
    drawn = space.find("pgd", "paper", "optuna")
    assert list(drawn.domains) == [
        "regime.epsilon",
        "regime.alpha_share",
        "regime.steps",
        "regime.norm_scope",
    ]
    assert not drawn.grid and drawn.rows == paper.rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            ROWS + 'reference = "weak"',
            "unknown reference of space .* 'weak': allowed: plain, strong",
        ),
        (ROWS.replace("{}", "5"), "rows must map names to dotted keys"),
        (ROWS + 'search = "random"', "has only rows"),
        (
            MINIMAL.replace("space = ", "spice = "),
            "sweeps nothing: give 'space' at least one dotted key, or 'rows'",
        ),
    ],
)
def test_errors_about_rows(tmp_path, text, message):
    with pytest.raises(UserError, match=message):
        space.find(write(tmp_path, text))


def test_tables_of_papers_are_spaces():
    assert {"xnli_adversarial/table2", "xnli_adversarial/figure2"} <= set(space.tables())
    loaded = space.find("xnli_adversarial/table2", "toy")
    assert (loaded.name, loaded.reference, len(loaded.rows)) == (
        "xnli_adversarial-table2",
        "XLM-R",
        12,
    )
    by_path = space.find("search_spaces/papers/xnli_adversarial/table2.py", "toy")
    assert (by_path.name, by_path.rows) == ("table2", loaded.rows)
