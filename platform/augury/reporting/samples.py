"""Test examples with the output of every system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from augury.core.rng import generator
from augury.reporting.numbers import number
from augury.reporting.results import SystemResult
from augury.reporting.run_files import test_corpus
from augury.scoring.stored import HYPOTHESES, read_outputs


@dataclass(frozen=True)
class Example:
    """An example of a test set; texts are given by column."""

    heading: str
    inputs: Mapping[str, str]
    """Column -> text that systems read."""
    expected: Mapping[str, str]
    """Column -> reference or label."""
    outputs: Mapping[str, str]
    """System -> its translation or label."""
    language: str = ""
    expected_language: str = ""


def draw(results: Sequence[SystemResult], test: str, count: int = 10) -> list[Example]:
    """Draw random examples of a test set, with the output of every system's first seed.

    Examples are numbered from 1, as in the corpus.

    Of a system, it is the first seed with outputs for the text that the first system has. The draw
    does not depend on the systems. The result is empty where the test set or all outputs are
    missing.
    """
    corpus, outputs = None, {}
    for result in results:
        for run in result.runs.values():
            known = run.sub(HYPOTHESES).exists(f"{test}.txt") and test_corpus(run, test)
            if not known:
                continue
            corpus = corpus or known
            if result.name not in outputs and known.address == corpus.address:
                outputs[result.name] = read_outputs(run, test)
    if corpus is None:
        return []
    kind = corpus.kind
    texts = {name: corpus.column(name) for name in (*kind.inputs, kind.target)}
    rows = len(texts[kind.target])
    draws = generator("samples", corpus.address)
    lines = sorted(draws.choice(rows, min(count, rows), replace=False).tolist())
    languages = [corpus.column(name)[0] for name in (kind.language, kind.target_language)]
    examples = []
    for line in lines:
        title = f"example {number(line + 1, 'count')}"
        inputs = {name: texts[name][line] for name in kind.inputs}
        reference = {kind.target: texts[kind.target][line]}
        of_systems = {system: output[line] for system, output in outputs.items()}
        examples.append(Example(title, inputs, reference, of_systems, *languages))
    return examples
