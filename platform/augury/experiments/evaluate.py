"""Score finished runs on their test sets, and render texts as views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from augury.augment.operator import BlockFunction, Operator
from augury.augment.pipeline import Part
from augury.core import config
from augury.core.errors import UserError
from augury.core.progress import say
from augury.corpora.corpus import KINDS
from augury.experiments.graph import Graph
from augury.experiments.record import SCORES, Cost, RunRecord
from augury.experiments.run import Run, describe_scores
from augury.experiments.task import find_task
from augury.regimes.regime import SOURCE
from augury.scoring.scores import score
from augury.scoring.stored import HYPOTHESES, STATISTICS, Measured, write_statistics
from augury.training.trained import Outcome


def evaluated(run: Run) -> bool:
    """Return whether a run has the scores that its experiment asks for; damaged ones are named and
    removed."""
    if not run.folder.exists(SCORES):
        return False
    if fault := run.folder.damage(SCORES):
        say(f"warning: {fault}: it is scored anew")
        run.folder.remove(SCORES)
        return False
    return RunRecord.read(run.folder).evaluations == _evaluations(run)


def evaluate(run: Run) -> None:
    """Score a run on the test sets on which it is not yet; write outputs, scores, test sets and
    cost into its folder.

    Scores that it has stay there until all new ones are computed.
    """
    known, wanted = RunRecord.read(run.folder), _evaluations(run)
    kept = [test for test in wanted if known.evaluations.get(test) == wanted[test]]
    scored = {test: _score(run, test) for test in run.tests if test not in kept}
    tests = {test: known.tests[test] for test in kept}
    tests |= {test: tuple(scores) for test, (_, scores) in scored.items()}
    run.folder.remove(SCORES)  # the files that it vouches for change one by one
    for test, (outputs, scores) in scored.items():
        lines = "".join(f"{line}\n" for line in outputs)
        run.folder.write(f"{HYPOTHESES}/{test}.txt", lines)
        write_statistics(run.folder, test, scores)
    training = Outcome.read(run.folder)
    cost = Cost.of(run.folder, training, data_factor=run.data_factor)
    record = replace(
        describe_scores(run),
        evaluations=wanted,
        tests={test: tests[test] for test in run.tests},
        training=training,
        cost=cost,
    )
    record.write_scores(run.folder)


def _score(run: Run, test: str) -> tuple[Sequence[str], Sequence[Measured]]:
    """Return the outputs on a test set, and their scores with the statistics of every example."""
    corpus = run.corpus(test)
    columns = KINDS[corpus.kind]
    outputs = find_task(run.experiment.task).outputs(run, corpus, test)
    (language,) = set(corpus.column(columns.target_language))
    scores = score(
        outputs,
        corpus.column(columns.target),
        sources=[
            "\t".join(texts) for texts in zip(*map(corpus.column, columns.inputs), strict=True)
        ],
        language=language,
        metrics=run.experiment.scoring.metrics,
    )
    return outputs, scores


def _evaluations(run: Run) -> dict[str, str]:
    """Return, by test set, the hash of everything that determines the scores of a trained model."""
    sections = run.experiment.to_dict()
    return {
        test: config.address(
            {
                "corpus": next(text.address for text in run.inputs if text.role == test),
                "tag": run.experiment.corpus.tag(test),
                "decoding": sections.get("decoding"),
                "scoring": sections.get("scoring"),
                "stored": STATISTICS,  # another form of statistics has another folder
            }
        )
        for test in run.tests
    }


def render_texts(run: Run, texts: Sequence[str], view: str) -> list[str]:
    """Return clean texts, in their order, as a view of the run renders them.

    The text serves as the id of its record, so that equal texts are rendered equally in any batch.
    UserError for a view that the run does not have, or has only while training, and for a task that
    reads several texts at once.
    """
    name = run.experiment.resolve_view(view)
    if name == SOURCE:
        return list(texts)
    part, apply = _bind(run, name)
    table = apply(_records(run, part, texts)).table
    return [str(text) for text in table.column("text").to_pylist()]


def _bind(run: Run, view: str) -> tuple[Operator, BlockFunction]:
    """Return the operator that makes a view of the run, and its function from records to the
    view."""
    models = Graph(run.store).models(run.experiment)
    parts = [
        Part(
            part,
            of_operator,
            run.stored_folder(run.fits[view]),
            run.stored_folder(run.views[view]),
            run.corpus("train").folder,
        )
        for operator, of_operator in zip(run.experiment.augment, models, strict=True)
        for part in operator.parts()
        if part.name() == view
    ]
    (part,) = parts
    return part.operator, part.operator.bind(part.fitted, run.store)


def _records(run: Run, operator: Operator, texts: Sequence[str]) -> pa.Table:
    """Return the texts as records with the columns that an operator reads.

    Unknown values are null.
    """
    corpus = run.corpus("train")
    columns = KINDS[corpus.kind]
    if len(columns.inputs) > 1:
        raise UserError(
            f"task {run.experiment.task} reads {' and '.join(columns.inputs)}: no single text is "
            "rendered"
        )
    (language, *_) = run.experiment.corpus.languages_of("train")
    values = {"id": texts, columns.inputs[0]: texts, columns.language: [language] * len(texts)}
    empty = [None] * len(texts)
    return pa.table(
        {
            name: pa.array(values.get(name, empty), pa.string())
            for name in operator.reads(corpus.columns)
        }
    )
