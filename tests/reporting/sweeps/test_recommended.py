"""The experiment file of a recommended system, with what it is compared with."""

from __future__ import annotations

from typing import Any

import yaml

from augury.experiments.spec import parse
from augury.experiments.systems import expand
from augury.reporting.run_files import EXPERIMENT
from augury.reporting.sweeps.recommended import recommended_yaml
from augury.reporting.sweeps.summary import summarise

BASE = {
    "name": "my",
    "task": "nmt",
    "corpus": {
        "train": {"builtin": 300},
        "valid": {"builtin": 20, "seed": 2},
        "source_language": "de",
        "target_language": "en",
    },
}
OURS = {"augment": [{"operator": "word_drop", "tau": 0.5}], "training": {"max_epochs": 3}}


def test_the_file_trains_the_system_and_its_reference_as_the_sweep_did(sweeps: Any) -> None:
    stored = {}
    for name, changes in {"baseline": {}, "ours": OURS}.items():
        address = sweeps.configuration({"name": name}, name)
        folder = sweeps.trial(address, 1, [30.0])
        stored[name] = parse({**BASE, **changes}).to_dict()
        folder.write(EXPERIMENT, yaml.safe_dump(stored[name]))
    summary = summarise(sweeps.load((1,)))
    results = {result.name: result for result in summary.ranking}
    text = recommended_yaml("my", results["ours"], results["baseline"], (1,))
    assert text is not None
    systems = expand(parse(yaml.safe_load(text)))
    assert list(systems) == ["baseline", "ours"]
    own = ("baseline", "systems", "seeds")
    for name, experiment in systems.items():
        wanted = {key: value for key, value in stored[name].items() if key not in own}
        assert {key: experiment.to_dict()[key] for key in wanted} == wanted
    alone = recommended_yaml("my", results["baseline"], results["baseline"], (1,))
    assert alone is not None and [*yaml.safe_load(alone)["systems"]] == ["baseline"]
