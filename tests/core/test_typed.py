"""Types of settings and of the files of a run."""

from __future__ import annotations

import re

import pytest
from pydantic import TypeAdapter, ValidationError

from augury.core.naming import FILE_NAME
from augury.core.typed import FileName

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
