"""The report of a paper's table: published and measured values, test sets by rows, deviations,
cost."""

from __future__ import annotations

from augury.core.progress import duration
from augury.reporting.downloads import downloads
from augury.reporting.figures import score_against_cost
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
    Block,
    Charts,
    Code,
    Details,
    Downloads,
    Listing,
    Places,
    Report,
    Section,
    section,
)
from augury.reporting.score_tables import by_test
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
    blocks: list[Block] = []
    if len(comparisons) > 1:
        text = (
            f"Blue is better than {table.space.reference} on the same test set, orange is worse; "
            "the p of marks is corrected for the rows of one test set."
        )
        blocks += [by_test(comparisons), text]
    if published:
        blocks.append(Details("The numbers, and what is published of them", [published]))
    sections.append(section("Test sets by rows", *blocks))
    if cost := score_against_cost(deciding) if deciding else []:
        sections.append(section("Cost", Charts(cost), cost[0].caption))
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
