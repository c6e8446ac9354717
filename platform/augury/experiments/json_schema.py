"""The JSON Schema of experiment files, for editors: all installed tasks, operators, regimes and
plug-ins."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import models_json_schema

from augury.core.plugins import PATH_PATTERN
from augury.experiments.task import TASKS

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of experiment files.

    Settings of tasks given by their path are not included.
    """
    tasks = TASKS.names()
    configs = {name: TASKS.find(name).EXPERIMENT for name in tasks}
    references, definitions = models_json_schema(
        [(config, "validation") for config in configs.values()]
    )
    return {
        "$schema": DIALECT,
        "title": "Augury experiment",
        "type": "object",
        "required": ["name", "task"],
        "properties": {
            "task": {
                "description": "The name of the task, or the path of a directory that holds it.",
                "anyOf": [{"enum": tasks}, {"type": "string", "pattern": PATH_PATTERN}],
            }
        },
        "allOf": [
            {
                "if": {"properties": {"task": {"const": name}}, "required": ["task"]},
                "then": references[config, "validation"],
            }
            for name, config in configs.items()
        ],
        **definitions,
    }
