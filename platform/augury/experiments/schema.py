"""The JSON Schema of experiment files."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from augury.core.plugin_files import PATH_PATTERN
from augury.core.yaml_file import EXTENDS
from augury.experiments.spec import TASKS, settings_class

DIALECT = "https://json-schema.org/draft/2020-12/schema"
EXTENDS_SCHEMA = {
    "type": "string",
    "description": "An experiment file that this one extends, relative to it: mappings are merged, "
    "and anything else is replaced.",
}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of experiment files, for editors: all installed tasks and plug-ins.

    Settings of tasks given by their path are not included.
    """
    tasks = TASKS.names()
    classes = {name: settings_class(name) for name in tasks}
    references, definitions = models_json_schema(
        [(settings, "validation") for settings in classes.values()]
    )
    for reference in references.values():
        definition = definitions["$defs"][reference["$ref"].rpartition("/")[2]]
        definition["properties"][EXTENDS] = EXTENDS_SCHEMA
    return {
        "$schema": DIALECT,
        "title": "Augury experiment",
        "type": "object",
        "anyOf": [{"required": ["name", "task"]}, {"required": [EXTENDS]}],
        "properties": {
            EXTENDS: EXTENDS_SCHEMA,
            "task": {
                "description": "The name of the task, or the path of a directory that holds it.",
                "anyOf": [{"enum": tasks}, {"type": "string", "pattern": PATH_PATTERN}],
            },
        },
        "allOf": [
            {
                "if": {"properties": {"task": {"const": name}}, "required": ["task"]},
                "then": references[settings, "validation"],
            }
            for name, settings in classes.items()
        ],
        **definitions,
    }
