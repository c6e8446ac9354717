"""Make what is missing of a graph: the texts of a plan, by address, and, in this process and one
after the other, the models of operators. Trainings side by side are those of `sweeping.driver`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from augury.augment import health, pipeline
from augury.augment.draw import Symbols
from augury.augment.noise import noisy_test
from augury.augment.operator import RECORDS, VIEW
from augury.augment.pipeline import Models
from augury.core.cluster import check_storage
from augury.core.errors import UserError
from augury.core.execution import Execution
from augury.core.locks import make_once
from augury.core.messages import say, say_once
from augury.core.ray_connection import connect
from augury.core.store import Store
from augury.corpora.ingest import overlap_warnings
from augury.experiments.examples import Examples
from augury.experiments.graph import TRAIN, Graph, Plan, Step, validation_sets
from augury.experiments.monitor import show_progress
from augury.experiments.run import Input, Run, describe
from augury.experiments.spec import Experiment
from augury.experiments.task import find_task
from augury.experiments.trial import run_trial
from augury.text.pieces.subwords import TRUNCATED, Subwords
from augury.text.tokens import tokenise


def make_texts(plan: Plan) -> None:
    """Make missing corpora, views, records and the tokenizer of a plan, whose models are trained.

    A later stage has the tokenizer of the first, on whose text operators are fitted too. Raises
    UnusableOutput where an operator makes nothing that the experiment could be trained on.
    """
    experiment, task = plan.experiment, find_task(plan.experiment.task)
    train = task.corpus(experiment, TRAIN, plan.store)
    for split in validation_sets(experiment):
        task.corpus(experiment, split, plan.store)
    fit_on = train
    if plan.before:
        make_texts(plan.first)
        fit_on = task.corpus(plan.first.experiment, TRAIN, plan.store)
    outputs = pipeline.make(plan.parts, train, plan.store, fit_on, experiment.execution)
    health.require([part.health for part in plan.parts], experiment.health)
    if outputs.reused:
        say_once(f"found, not made again: {', '.join(outputs.reused)}")
    folder = plan.tokenizer.folder
    make_once(folder, lambda: task.make_tokenizer(experiment, plan.learned_from, folder))


def make_run(plan: Plan) -> Run:
    """Make everything that the training of a plan reads; return its run with the first seed."""
    experiment, store = plan.experiment, plan.store
    task, execution = find_task(experiment.task), experiment.execution
    task.check_model(experiment, store)
    splits = (TRAIN, *validation_sets(experiment), *experiment.test_sets)
    corpora = {split: task.corpus(experiment, split, store) for split in splits}
    train = corpora[TRAIN]
    for test in experiment.test_sets:
        if noise := experiment.corpus.noise(test):
            corpora[test] = noisy_test(corpora[test], noise, train, store, execution)
    held_out = {name: corpus for name, corpus in corpora.items() if name != TRAIN}
    for warning in overlap_warnings(train, list(held_out.items())):
        say_once(f"warning: {warning}")
    make_texts(plan)
    work = train.rows * len(plan.texts) / task.ROWS_PER_SECOND
    tokenise(plan.texts, plan.tokens, plan.tokenizer, execution.choose(work, "tokenise"))
    if isinstance(plan.tokenizer, Subwords):
        for name, folder in plan.tokens.items():
            manifest, most = folder.manifest(), plan.tokenizer.max_length
            if count := manifest["counts"].get(TRUNCATED):
                whole = f"{manifest['rows']:,} rows of '{name}'"
                say_once(f"cut to {most} subwords: {count:,} of {whole}")
    task.check_held_out(experiment, plan.tokenizer.folder, held_out)
    records = {part.name: part.folder for part in plan.parts if part.operator.makes() == RECORDS}
    texts = [train.folder, *records.values()]
    examples = Examples(experiment, plan.tokens, list(task.SIDES), texts)
    for reason, count in examples.left_out.items():
        say_once(f"left out of training: {count:,} of {examples.rows_read:,} examples, {reason}")
    seed = experiment.seeds[0]
    return Run(
        folder=plan.run(seed),
        address=plan.address,
        seed=seed,
        prefix=plan.prefix,
        experiment=experiment,
        inputs=tuple(
            Input(split, corpus.address, corpus.rows) for split, corpus in corpora.items()
        ),
        tokenizer=plan.tokenizer.folder.name,
        tokens={name: folder.name for name, folder in plan.tokens.items()},
        views={part.name: part.folder.name for part in plan.parts if part.operator.makes() == VIEW},
        records={name: folder.name for name, folder in records.items()},
        fits={part.name: part.fit.name for part in plan.parts},
        data_factor=examples.texts_read / train.rows,
        health=tuple(part.health for part in plan.parts),
        before=plan.before.address if plan.before else None,
    )


def examples_of(run: Run, symbols: Callable[[], Symbols]) -> Examples:
    """Return the training examples of a run; `symbols` is called only where an operator draws
    from token ids."""
    task = find_task(run.experiment.task)
    tokens = {name: run.stored_folder(folder) for name, folder in run.tokens.items()}
    texts = [run.corpus(TRAIN).folder, *map(run.stored_folder, run.records.values())]
    return Examples(run.experiment, tokens, list(task.SIDES), texts, symbols, run.seed)


def prepare(experiment: Experiment, store: Store) -> Run:
    """Make everything that the training of an experiment reads, the models of its operators too;
    return its run with the first seed."""
    graph = Graph(store)
    (plan,) = graph.add({experiment.name: experiment}).values()
    return make(graph, [Step(plan.address)])[plan.address]


def train_models(experiment: Experiment, store: Store) -> list[Models]:
    """Train the models of an experiment's operators that are missing; return those of each
    operator, by role."""
    graph = Graph(store)
    (plan,) = graph.add({experiment.name: experiment}).values()
    steps = [step for step in graph.inputs(Step(plan.address)) if step.seed is not None]
    make(graph, steps)
    return graph.models(experiment)


def make(graph: Graph, targets: Sequence[Step]) -> dict[str, Run]:
    """Make steps with all their inputs, one after the other; return the runs whose texts are made,
    with the first seed, by address. Raises the first failure."""
    runs: dict[str, Run] = {}
    made: set[Step] = set()

    def visit(step: Step) -> None:
        if step in made:
            return
        made.add(step)
        name = graph.names[step]
        if graph.is_made(step):
            say(f"{name}, seed {step.seed}: found, not trained again")
            return
        for needed in graph.inputs(step):
            visit(needed)
        if step.seed is None:
            runs[step.address] = make_run(graph.plans[step.address])
            return
        run = runs[step.address].with_seed(step.seed)
        describe(run, name)
        label = f"{name}, seed {step.seed}"
        with show_progress(run.folder, label, run.experiment.training):
            run_trial(run, scored=step in graph.scored)

    for target in targets:
        visit(target)
    return runs


def reach_storage(execution: Execution, root: str) -> None:
    """Raise UserError where a worker of the cluster to join cannot write and read a storage."""
    if execution.joins_cluster:
        connect()
        check_storage(root)


def open_storage(storage: str) -> Store:
    """Return the storage of a command; UserError for a relative one in a Ray job, whose working
    directory is deleted with it."""
    if (
        "RAY_JOB_CONFIG_JSON_ENV_VAR" in os.environ
        and "://" not in storage
        and not Path(storage).is_absolute()
    ):
        raise UserError(
            f"storage '{storage}' is relative, and a Ray job's working directory is thrown away: "
            "give storage=/a/shared/directory, or a URI such as s3://bucket/augury"
        )
    return Store(storage)
