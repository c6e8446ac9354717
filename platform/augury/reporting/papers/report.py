"""The report of a paper's table: published and measured values, test sets by rows, deviations,
cost."""

from __future__ import annotations

from augury.core.progress import duration
from augury.reporting.downloads import downloads
from augury.reporting.papers.reproduction import Reproduction
from augury.reporting.papers.tables import (
    answer,
    deviations,
    frame,
    heading,
    matrices,
    printed_tables,
    published_by_test,
    rows,
    tables,
    to_dict,
)
from augury.reporting.report import (
    Code,
    Details,
    Downloads,
    Listing,
    Places,
    Report,
    Section,
    section,
)
from augury.reporting.score_charts import cost_sections
from augury.reporting.score_tables import test_sections
from augury.reporting.sweeps.locations import address_table, locations, reproduce_command
from augury.reporting.tables import csv, latex


def report(reproduction: Reproduction) -> Report:
    """Return the report of a table, as far as it is measured."""
    table, sweep, deciding = reproduction.table, reproduction.sweep, reproduction.deciding
    title, sentence = f"{table.name} at scale {table.space.scale}", answer(reproduction)
    source, *cautions = heading(reproduction)
    return Report(
        title=title,
        question=table.space.question,
        answer=sentence,
        power=deciding.power_text if deciding else "",
        notes=[*cautions, *(deciding.warnings if deciding else ())],
        facts={
            "paper": source,
            "seeds": ", ".join(map(str, sweep.seeds)),
            "training in all": duration(sweep.seconds),
        },
        sections=_sections(reproduction, title),
        data=to_dict(reproduction),
        summary=[
            "\n".join([source, *cautions]),
            *tables(reproduction),
            "\n".join(deviations(table)),
            f"cost: {duration(sweep.seconds)} of training in all\n{sentence}",
        ],
        tables=printed_tables(reproduction),
        records=frame(reproduction),
        most_notes=12,
    )


def _sections(reproduction: Reproduction, title: str) -> list[Section]:
    table, sweep, deciding = reproduction.table, reproduction.sweep, reproduction.deciding
    tex = latex(printed_tables(reproduction))
    files = downloads(title, csv=csv(frame(reproduction)), tex=tex)
    sections = [
        section("Published and measured", rows(reproduction), Downloads(files)),
        *(section(matrix.title, matrix) for matrix in matrices(reproduction)),
    ]
    comparisons, published = (
        list(reproduction.comparisons.values()),
        published_by_test(reproduction),
    )
    numbers = [Details("The numbers, and what is published", [published])] if published else []
    tests = test_sections(comparisons, "rows", *numbers)
    sections += tests or [section("Test sets", *numbers)]
    sections += cost_sections(deciding)
    if table.deviations:
        sections.append(section("Deviations from the paper", Listing(table.deviations)))
    measured = (
        (line.name, line.configuration) for line in reproduction.lines if line.configuration
    )
    command = reproduce_command(sweep, table.name, _asked(reproduction))
    return [
        *sections,
        section("Repeat it", Code(command)),
        section("Storage", Places(locations(sweep)), address_table("row", measured)),
    ]


def _asked(reproduction: Reproduction) -> list[str]:
    """Return the rows that were asked for besides the reference; none if all were."""
    if all(line.status != "left out" for line in reproduction.lines):
        return []
    reference = reproduction.table.space.reference
    return [
        line.name for line in reproduction.lines if line.configuration and line.name != reference
    ]
