"""Train and score one run: a trial of a sweep, or a model that others need; render texts as its
views.

All state is in the run's folder: what was killed, or begun by another command, goes on from its
last checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from augury.augment.operator import Operator
from augury.augment.pipeline import Part
from augury.core import config
from augury.core.errors import UserError, outage_of
from augury.core.execution import Execution
from augury.core.locks import locked
from augury.core.messages import say
from augury.corpora.corpus import Corpus
from augury.experiments.graph import Graph
from augury.experiments.record import DESCRIPTION, SCORES, Cost, RunName, RunRecord
from augury.experiments.run import Run, describe_scores
from augury.experiments.task import find_task
from augury.regimes.regime import SOURCE
from augury.scoring.registry import record_name
from augury.scoring.scores import score
from augury.scoring.stored import (
    STATISTICS,
    Measured,
    Score,
    read_outputs,
    with_statistics,
    write_outputs,
    write_statistics,
)
from augury.training.trained import FAILURE, OnValidation, Outcome

if TYPE_CHECKING:
    import torch


def is_done(run: Run, *, scored: bool) -> bool:
    """Return whether a run is trained and, where it is to be `scored`, has the scores that its
    experiment asks for."""
    return run.folder.complete and (not scored or has_scores(run))


def run_trial(
    run: Run,
    *,
    scored: bool,
    execution: Execution | None = None,
    deadline: float | None = None,
    on_validation: OnValidation = lambda metrics: None,
    warn: Callable[[str], None] = say,
) -> bool:
    """Train a run to its end and score it; return False where the deadline ended it before.

    `execution` overrides the experiment's; `deadline` is a Unix time, after which training stops at
    its next validation, to be continued; `warn` takes a line on workers that died. Raises what
    ended it: Diverged, Crashed, UserError, and errors of the machine. What is wrong with the run
    itself is written to its folder.
    """
    from augury.training.launch import launch  # loads torch, which takes seconds

    with locked(run.folder):
        if is_done(run, scored=scored):
            return True
        run.folder.remove(FAILURE)
        described = run.folder.exists(DESCRIPTION)
        try:
            name = RunName.read(run.folder).name if described else run.folder.uri
            trained = launch(
                train_here,
                run,
                run.experiment.training,
                execution or run.experiment.execution,
                name=f"{name}, seed {run.seed}",
                on_validation=on_validation,
                deadline=deadline,
                warn=warn,
            )
            if not trained:
                return False
            if scored and not has_scores(run):
                score_run(run)
        except Exception as error:
            if not outage_of(error):
                failure = {"kind": type(error).__name__, "error": str(error)}
                run.folder.write_record(FAILURE, failure)
            raise
        run.folder.finish({"address": run.address, "seed": run.seed}, files=())
    return True


def train_here(
    run: Run, device: torch.device, on_validation: OnValidation, deadline: float | None = None
) -> None:
    """Train a run in this process, a worker of a launcher."""
    from augury.training.loop import Trainer

    learner = find_task(run.experiment.task).learner(run)
    compiled = run.experiment.execution.compile
    if compiled:
        from augury.training.learner import compile_layers

        compile_layers(learner.module)
    trainer = Trainer(
        learner,
        run.experiment.training,
        run,
        device=device,
        init_from=run.init_from,
        own_dropout=not compiled,
    )
    trainer.fit(on_validation, deadline)


def has_scores(run: Run) -> bool:
    """Return whether a run has the scores that its experiment asks for; damaged ones are named and
    removed."""
    if not run.folder.exists(SCORES):
        return False
    if fault := run.folder.damage(SCORES):
        say(f"warning: {fault}: it is scored anew")
        run.folder.remove(SCORES)
        return False
    known = RunRecord.read(run.folder)
    return all(
        known.evaluations.get(test) == address and not _missing(run, known.tests[test])
        for test, address in _scoring_addresses(run).items()
    )


def score_run(run: Run) -> None:
    """Score a run by the metrics and on the test sets by which it is not yet; write outputs,
    scores, test sets and cost into its folder.

    Scores by metrics and on test sets for which other experiments have asked are kept, and all that
    it has stay there until the new ones are computed.
    """
    known, wanted = RunRecord.read(run.folder), _scoring_addresses(run)
    tests: dict[str, Sequence[Score]] = {}
    changed: dict[str, tuple[Sequence[str], Sequence[Measured]]] = {}
    for test in run.tests:
        same = known.evaluations.get(test) == wanted[test]
        tests[test] = known.tests[test] if same else ()
        if missing := _missing(run, tests[test]):
            corpus = run.corpus(test)
            outputs: Sequence[str] = (
                read_outputs(run.folder, test)
                if same
                else find_task(run.experiment.task).outputs(run, corpus, test)
            )
            new = _score(corpus, outputs, missing)
            replaced = {record_name(score.name) for score in new}
            before = [score for score in tests[test] if record_name(score.name) not in replaced]
            measured = [*with_statistics(run.folder, test, before), *new]
            tests[test], changed[test] = measured, (outputs, measured)
    tests |= {test: scores for test, scores in known.tests.items() if test not in tests}
    run.folder.remove(SCORES)  # the files that it vouches for change one by one
    for test, (outputs, scores) in changed.items():
        write_outputs(run.folder, test, outputs)
        write_statistics(run.folder, test, scores)
    training = Outcome.read(run.folder)
    record = replace(
        describe_scores(run),
        evaluations={**known.evaluations, **wanted},
        tests={test: tuple(scores) for test, scores in tests.items()},
        training=training,
        cost=Cost.of(run.folder, training, data_factor=run.data_factor),
    )
    record.write_scores(run.folder)


def _missing(run: Run, scores: Sequence[Score]) -> list[str]:
    """Return the metrics of the run's experiment by which it has no score yet."""
    known = {config.address(score.name) for score in scores}
    asked = run.experiment.scoring.metrics
    return [metric for metric in asked if config.address(metric) not in known]


def _score(corpus: Corpus, outputs: Sequence[str], metrics: Sequence[str]) -> list[Measured]:
    """Return the scores of the outputs on a test set, with the statistics of every example."""
    kind = corpus.kind
    (language,) = set(corpus.column(kind.target_language))
    sources = zip(*map(corpus.column, kind.inputs), strict=True)
    return score(
        outputs,
        corpus.column(kind.target),
        sources=["\t".join(texts) for texts in sources],
        language=language,
        metrics=metrics,
    )


def _scoring_addresses(run: Run) -> dict[str, str]:
    """Return, by test set, the hash of everything that determines the outputs of a trained model,
    and the form in which they and their scores are stored."""
    decoding = run.experiment.to_dict().get("decoding")
    return {
        test: config.address(
            {
                "corpus": next(text.address for text in run.inputs if text.name == test),
                "tag": run.experiment.corpus.tag(test),
                "decoding": decoding,
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
    fit, folder = run.stored_folder(run.fits[name]), run.stored_folder(run.views[name])
    models = Graph(run.store).models(run.experiment)
    (part,) = (
        Part(part, of_operator, fit, folder, run.corpus("train").folder)
        for operator, of_operator in zip(run.experiment.augment, models, strict=True)
        for part in operator.parts()
        if part.name() == name
    )
    apply = part.operator.bind(part.fitted, run.store)
    table = apply(_records(run, part.operator, texts)).table
    return [str(text) for text in table.column("text").to_pylist()]


def _records(run: Run, operator: Operator, texts: Sequence[str]) -> pa.Table:
    """Return the texts as records with the columns that an operator reads.

    Unknown values are null.
    """
    corpus = run.corpus("train")
    kind = corpus.kind
    if len(kind.inputs) > 1:
        raise UserError(
            f"task {run.experiment.task} reads {' and '.join(kind.inputs)}: no single text is "
            "rendered"
        )
    (language, *_) = run.experiment.corpus.languages_of("train")
    values = {"id": texts, kind.inputs[0]: texts, kind.language: [language] * len(texts)}
    empty = [None] * len(texts)
    return pa.table(
        {
            name: pa.array(values.get(name, empty), pa.string())
            for name in operator.reads(corpus.kind.columns)
        }
    )
