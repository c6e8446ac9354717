"""Search spaces: those that ship, the definitions of a file and the errors about them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from augury.core.config import merge
from augury.core.errors import UserError
from augury.experiments import spec
from augury.sweeping import declarations, space

MINIMAL = """
from augury.sweeping.declarations import SearchSpace

SPACE = SearchSpace(
    question="Does it help?",
    base={"name": "x", "task": "nmt"},
    keys={"regime.beta": [0, 5]},
    metric="valid/bleu",
    mode="max",
    seeds=(1, 2),
)
"""


def with_fields(fields: str, text: str = MINIMAL) -> str:
    """Return the file of a space with additional fields."""
    return text.replace("\n)\n", f"\n    {fields}\n)\n")


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "mine.py"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", declarations.known())
def test_every_shipped_space_is_a_valid_experiment_at_every_scale(name, tmp_path):
    for scale in ("toy", "small", "paper"):
        loaded = space.find(name, scale)
        assert loaded.question.endswith("?")
        for point in [*space.sample(loaded), *loaded.rows.values()]:
            parsed = spec.parse(merge(loaded.base, point) | {"storage": str(tmp_path)})
            assert parsed.training.validations is not None


def test_known_spaces():
    assert declarations.known() == [
        "agreement",
        "augmentations",
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
    assert space.sample(loaded) == [{"regime.beta": 0}, {"regime.beta": 5}]


def test_scales_differ_by_dotted_keys(tmp_path):
    path = write(tmp_path, with_fields('scales={"toy": {"training.max_updates": 9}, "big": {}}'))
    assert space.find(path).base["training"] == {"max_updates": 9}
    assert "training" not in space.find(path, "big").base
    with pytest.raises(
        UserError, match="unknown scale of search space .* 'huge': allowed: big, toy"
    ):
        space.find(path, "huge")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MINIMAL.replace("seeds", "sedes"), r"mine\.py' is not valid:\n(.|\n)*'seeds' is required"),
        (MINIMAL.replace("seeds", "sedes"), "unknown key 'sedes': did you mean 'seeds'"),
        (with_fields("rows=5"), "rows = 5: must be keys with values, .* or a function"),
        (with_fields("scales={}"), "scales"),
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
        (
            MINIMAL.replace('"max"', '"maximum"'),
            "mode = 'maximum': must be 'max' or 'min': did you mean 'max'",
        ),
        (MINIMAL.replace('"Does it help?"', "3"), "question = 3: must be text"),
        (MINIMAL.replace("Does it help?", " "), "question = ' ': must be text"),
        (MINIMAL.replace("SPACE =", "SPICE ="), "does not define SPACE: .* SPACE = SearchSpace"),
        ("SPACE = {}", "SPACE of .* is a dict: the file must define SPACE = SearchSpace"),
        ("import nonsense_of_mine", "cannot be imported: ModuleNotFoundError"),
    ],
)
def test_errors_about_a_file(tmp_path, text, message):
    with pytest.raises(UserError, match=message):
        space.find(write(tmp_path, text))


FORMER = """
QUESTION = "Does it help?"
base = {"name": "x", "task": "nmt"}
space = {"regime.beta": [0, 5]}
metric, mode = "valid/bleu", "max"
seeds = (1, 2)
scheduler = "race"
"""


def test_the_error_about_the_former_form_ends_with_what_makes_it_valid(tmp_path):
    with pytest.raises(UserError, match="does not define SPACE") as raised:
        space.find(write(tmp_path, FORMER))
    _, added = str(raised.value).split("\n\n", 1)
    loaded = space.find(write(tmp_path, f"{FORMER}\n{added}\n"))
    assert loaded == replace(space.find(write(tmp_path, MINIMAL)), scheduler="race")


def test_errors_suggest_the_nearest_name():
    with pytest.raises(
        UserError, match="unknown search space 'agrement': did you mean 'agreement'"
    ):
        space.find("agrement")
    with pytest.raises(UserError, match="no search space 'no/such.py'"):
        space.find("no/such.py")


def test_drawn_points_depend_on_their_number_alone():
    drawn = space.find("agreement", search="random")
    few, many = space.sample(drawn, 3), space.sample(drawn, 5)
    assert many[:3] == few
    assert len({point["regime.beta"] for point in many}) == 5
    assert all(
        0.1 <= point["regime.beta"] <= 20 and 0.5 <= point["regime.tau"] <= 4 for point in many
    )
    with pytest.raises(UserError, match="give the number of points with --samples N"):
        space.sample(drawn)


def test_a_grid_takes_no_samples():
    with pytest.raises(UserError, match="--samples 4: space 'agreement' is a grid"):
        space.sample(space.find("agreement"), 4)


ROWS = MINIMAL.replace(
    'keys={"regime.beta": [0, 5]}', 'rows={"plain": {}, "strong": {"regime.beta": 5}}'
)


def test_rows_are_points_with_names(tmp_path):
    loaded = space.find(write(tmp_path, ROWS))
    assert loaded.rows == {"plain": {}, "strong": {"regime.beta": 5}}
    assert (loaded.reference, loaded.search, space.sample(loaded)) == ("plain", "grid", [])
    both = space.find(write(tmp_path, with_fields('rows={"plain": {}}, reference="plain"')))
    assert space.sample(both) == [{"regime.beta": 0}, {"regime.beta": 5}]
    assert list(both.rows) == ["plain"]


def test_rows_may_depend_on_the_scale(tmp_path):
    text = ROWS.replace("rows={", "rows=lambda scale: {scale: {}, ")
    text = with_fields("scales={'toy': {}, 'big': {}}", text)
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
            with_fields('reference="weak"', ROWS),
            "unknown reference of space .* 'weak': allowed: plain, strong",
        ),
        (ROWS.replace("{}", "5"), "rows.plain = 5: must be keys with values"),
        (
            ROWS.replace("rows={", "rows=lambda scale: {'a': 5, "),
            "rows must map names to dotted keys",
        ),
        (with_fields('search="random"', ROWS), "has only rows"),
        (
            MINIMAL.replace('    keys={"regime.beta": [0, 5]},\n', ""),
            "sweeps nothing: give 'keys' at least one dotted key, or 'rows'",
        ),
    ],
)
def test_errors_about_rows(tmp_path, text, message):
    with pytest.raises(UserError, match=message):
        space.find(write(tmp_path, text))


def test_tables_of_papers_are_spaces():
    assert {"xnli_adversarial/table2", "xnli_adversarial/figure2"} <= set(declarations.tables())
    loaded = space.find("xnli_adversarial/table2", "toy")
    assert (loaded.name, loaded.reference, len(loaded.rows)) == (
        "xnli_adversarial-table2",
        "XLM-R",
        12,
    )
    by_path = space.find("search_spaces/papers/xnli_adversarial/table2.py", "toy")
    assert (by_path.name, by_path.rows) == ("table2", loaded.rows)
