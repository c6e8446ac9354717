"""What operators made: notes of tables, and a table of the page."""

from __future__ import annotations

from typing import Any

from augury.augment.health import Health
from augury.augment.operator import Rate
from augury.reporting import experiment, rendering
from augury.reporting.comparison import comparison
from augury.reporting.system_tables import output_table, output_warnings
from tests.run_folders import load

GOOD = Health("rot-1", "cipher", 998, empty=0.0, copied=0.001, repeated=0.0, length=1.0)
BAD = Health("back_translation", "back_translation", 1, {"empty": 99}, empty=0.99)
NOISE = Health("noise", "noise", 5, rates={"asr": Rate(0.1, 0.098, 900)}, measures={"WER": 12.0})


def described(results: Any, name: str, address: str, *outputs: Health, **run: Any) -> Any:
    """A scored run whose operators made `outputs`; `run` are further entries of its description."""
    folder = results.run(name, address, bleu=30.0)
    facts = folder.read_record("run.json")
    folder.write_record(
        "run.json", {**facts, "run": {"health": [output.to_dict() for output in outputs], **run}}
    )
    return folder


def test_an_output_that_was_trained_on_beyond_a_limit_is_a_warning(results: Any, read: Any) -> None:
    systems = load(
        [described(results, "base", "aa" * 8, GOOD), described(results, "+BT", "bb" * 8, BAD)]
    )
    (bad,) = output_warnings(systems)
    assert "+BT" in bad
    assert bad in comparison(systems, "test").warnings
    assert any(
        "99 empty" in cell
        for cell in read(rendering.page(experiment.report(systems, "x"))).texts["td"]
    )


def test_outputs_of_earlier_stages_count(results: Any) -> None:
    described(results, "first", "aa" * 8, GOOD)
    (system,) = load([described(results, "tuned", "bb" * 8, NOISE, before="aa" * 8)])
    assert system.outputs == (GOOD, NOISE)
    table = output_table([system])
    assert table is not None and len(table.rows) == 2
    assert system.to_dict()["outputs"][1]["rates"]["asr"]["realised"] == 0.098


def test_runs_of_other_versions_have_none(results: Any) -> None:
    systems = load([results.run("baseline", "aa" * 8, bleu=30.0)])
    assert output_warnings(systems) == [] and output_table(systems) is None
