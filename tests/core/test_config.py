from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from augury.core.config import FileName, Section, address, merge, override, validate
from augury.core.errors import UserError
from augury.core.naming import FILE_NAME


class Inner(Section):
    beta: float = Field(5.0, ge=0)
    tau: float = 1.0


class Outer(Section):
    name: str
    regime: Inner = Inner()
    items: tuple[Inner, ...] = ()


def test_cached_properties_follow_the_settings_of_a_copy() -> None:
    class Doubled(Inner):
        @cached_property
        def double(self) -> float:
            return 2 * self.beta

    section = Doubled(beta=1.0)
    assert section.double == 2.0
    assert section.model_copy(update={"beta": 3.0}).double == 6.0
    assert section.double == 2.0


def test_override_reads_yaml_values_and_leaves_the_original() -> None:
    content: dict[str, Any] = {"name": "a", "regime": {"beta": 1}}
    changed = override(content, ["regime.beta=2.5", "regime.tau=3", "items=[{beta: 4}]"])
    assert changed == {"name": "a", "regime": {"beta": 2.5, "tau": 3}, "items": [{"beta": 4}]}
    assert content == {"name": "a", "regime": {"beta": 1}}


def test_merge_sets_list_positions_and_makes_missing_sections() -> None:
    assert merge({"items": [{"beta": 1}, {"beta": 2}]}, {"items.1.beta": 9, "new.key": 1}) == {
        "items": [{"beta": 1}, {"beta": 9}],
        "new": {"key": 1},
    }
    with pytest.raises(UserError, match="'2' is not an index of a list with 2"):
        merge({"items": [1, 2]}, {"items.2": 3})
    with pytest.raises(UserError, match="item 0 is 1, a single value"):
        merge({"items": [1, 2]}, {"items.0.beta": 3})


@pytest.mark.parametrize("assignment", ["beta", "=5", ""])
def test_override_refuses_what_is_not_an_assignment(assignment: str) -> None:
    with pytest.raises(UserError, match="--set takes dotted.key=value"):
        override({}, [assignment])


def test_validate_lists_every_fault_with_its_key_and_the_nearest_name() -> None:
    with pytest.raises(UserError) as raised:
        validate(Outer, {"name": "a", "regime": {"betta": 1, "tau": "x"}, "regim": {}}, "file.yaml")
    message = str(raised.value)
    assert message.startswith("file.yaml is not valid:")
    assert "unknown key 'regime.betta': did you mean 'beta'?" in message
    assert "unknown key 'regim': did you mean 'regime'?" in message
    assert "regime.tau = 'x'" in message


def test_validate_names_keys_inside_lists_and_missing_ones() -> None:
    with pytest.raises(UserError, match=r"unknown key 'items.0.taux': did you mean 'tau'\?"):
        validate(Outer, {"name": "a", "items": [{"taux": 1}]}, "file")
    with pytest.raises(UserError, match="'name' is required"):
        validate(Outer, {}, "file")
    with pytest.raises(UserError, match="regime.beta = -1: must be at least 0"):
        validate(Outer, {"name": "a", "regime": {"beta": -1}}, "file")


def test_address_depends_on_content_and_not_on_the_order_of_keys() -> None:
    assert address({"a": 1, "b": [1, 2]}) == address({"b": [1, 2], "a": 1})
    assert address({"a": 1}) != address({"a": 2})
    assert len(address("x")) == 16
    # pinned: a change would orphan everything that users have stored
    assert address({"operator": "cipher", "keys": [1]}) == "04f0f7d0b607a59c"


def test_a_change_of_a_system_or_stage_is_a_dotted_key() -> None:
    tune = {"training.patience": 3}
    content = {"stages": {"tune": tune}, "training": {"patience": 1}}
    changed = merge(content, {"stages.tune.training.patience": 5, "stages.tune.carry": "optimizer"})
    assert changed["stages"] == {"tune": {"training.patience": 5, "carry": "optimizer"}}
    nested = merge({}, {"stages": {"tune": tune}, "stages.tune.model.dropout": 0.3})
    assert nested["stages"]["tune"] == {**tune, "model.dropout": 0.3} and tune == {
        "training.patience": 3
    }
    of_system = merge({"systems": {"a": {}}}, {"systems.a.stages.tune.training.patience": 2})
    assert of_system == {"systems": {"a": {"stages.tune.training.patience": 2}}}


class Documented(Section):
    size: int = 1
    """Number of things.

    In thousands.
    """
    name: str = ""


class Renamed(Documented):
    size: int = 2
    name: str = "renamed"
    """Name of the thing."""


def test_descriptions_of_settings_are_inherited() -> None:
    inherited = "Number of things.\n\nIn thousands."
    assert Documented.descriptions() == {"size": inherited}
    assert Renamed.descriptions() == {"size": inherited, "name": "Name of the thing."}
    assert Renamed.model_json_schema()["properties"]["size"]["description"] == inherited


@pytest.mark.parametrize("value", ["&a [*a]", "[" * 3000, '"\\ud800"', "{a: 1, a: 2}", "x: y: z"])
def test_values_of_the_command_line_have_the_limits_of_files(value: str) -> None:
    with pytest.raises(UserError, match="--set a"):
        override({}, [f"a={value}"])


NAMES = TypeAdapter(FileName)


@pytest.mark.parametrize(
    "name", ["a", "-a.b", "größe_1", 100 * "a", "", ".a", "a b", "a/b", "a\0", 101 * "a", 101 * "ß"]
)
def test_names_of_files_are_those_of_their_pattern(name: str) -> None:
    if re.fullmatch(FILE_NAME, name):
        assert NAMES.validate_python(name) == name
    else:
        with pytest.raises(ValidationError):
            NAMES.validate_python(name)


def test_a_name_of_a_file_has_no_line_end() -> None:
    with pytest.raises(ValidationError):
        NAMES.validate_python("a\n")


def test_editors_see_the_whole_pattern() -> None:
    assert NAMES.json_schema() == {"type": "string", "pattern": FILE_NAME}
