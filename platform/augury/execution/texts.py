"""Make the texts of a plan: from text files to everything that training reads, by address."""

from __future__ import annotations

from collections.abc import Callable

from augury.augment import health, pipeline
from augury.augment.draw import Symbols
from augury.augment.noisy_tests import noisy_test
from augury.augment.operator import RECORDS, VIEW
from augury.core.locks import make_once
from augury.core.progress import say_once
from augury.corpora.ingest import overlap_notes
from augury.corpora.references import stored_references
from augury.execution.examples import Examples
from augury.execution.graph import TRAIN, Plan, dev_sets
from augury.experiments.run import Input, Run
from augury.experiments.task import find_task
from augury.regimes.regime import TARGET, reads_per_epoch
from augury.text.subwords.tokenizer import TRUNCATED, Subwords
from augury.text.tokens import Tokens, tokenise


def make_texts(plan: Plan) -> None:
    """Make missing corpora, views, records and the tokenizer of a plan, whose models are trained.

    A later stage has the tokenizer of the first, on whose text operators are fitted too. Raises
    UnusableOutput where an operator makes nothing that the experiment could be trained on.
    """
    experiment, task = plan.experiment, find_task(plan.experiment.task)
    train = task.corpus(experiment, TRAIN, plan.store)
    for split in dev_sets(experiment):
        task.corpus(experiment, split, plan.store)
    fit_on = None
    if plan.before:
        make_texts(plan.first)
        fit_on = task.corpus(plan.first.experiment, TRAIN, plan.store)
    outputs = pipeline.make(plan.parts, train, plan.store, fit_on, experiment.execution)
    measured = [part.health for part in plan.parts]
    health.require([measures for measures in measured if measures], experiment.health)
    if outputs.reused:
        say_once(f"found, not made again: {', '.join(outputs.reused)}")
    folder = plan.tokenizer.folder
    make_once(folder, lambda: task.make_tokenizer(experiment, plan.learned_from, folder))


def make_run(plan: Plan) -> Run:
    """Make everything that the training of a plan reads; return its run with the first seed."""
    experiment, store = plan.experiment, plan.store
    task, execution = find_task(experiment.task), experiment.execution
    task.check_model(experiment, store)
    splits = (TRAIN, *dev_sets(experiment), *experiment.test_sets)
    corpora = {split: task.corpus(experiment, split, store) for split in splits}
    train = corpora[TRAIN]
    references = {
        test: folder.name
        for test in experiment.test_sets
        if (folder := stored_references(experiment.corpus, test, corpora[test], store))
    }
    for test in experiment.test_sets:
        if noise := experiment.corpus.noise(test):
            corpora[test] = noisy_test(corpora[test], noise, train, store, execution)
    held_out = {name: corpus for name, corpus in corpora.items() if name != TRAIN}
    for note in overlap_notes(train, held_out.items()):
        say_once(f"warning: {note}")
    make_texts(plan)
    work = train.rows * len(plan.texts) / task.ROWS_PER_SECOND
    tokenise(plan.texts, plan.tokens, plan.tokenizer, execution.choose(work, "tokenise"))
    _say_truncated(plan)
    task.check_held_out(experiment, plan.tokenizer.folder, held_out)
    records = {part.name: part.folder for part in plan.parts if part.operator.makes() == RECORDS}
    texts = [train.folder, *records.values()]
    examples = Examples(experiment, plan.tokens, list(task.SIDES), texts, experiment.example_limit)
    for reason, count in examples.left_out.items():
        say_once(f"left out of training: {count:,} of {examples.rows_read:,} examples, {reason}")
    read = reads_per_epoch(examples.view_groups)
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
        epochs_by_view={view: share for (view, side), share in read.items() if side == TARGET},
        pieces={
            "pair" if len(columns) > 1 else side: float(Tokens(plan.tokens[side]).lengths.mean())
            for side, columns in task.sides(experiment).items()
        },
        left_out=examples.left_out,
        health=tuple(output for part in plan.parts if (output := part.health)),
        references=references,
        before=plan.before.address if plan.before else None,
    )


def examples_of(run: Run, symbols: Callable[[], Symbols]) -> Examples:
    """Return the training examples of a run; `symbols` is called only where an operator draws
    from token ids."""
    task = find_task(run.experiment.task)
    tokens = {name: run.stored_folder(folder) for name, folder in run.tokens.items()}
    texts = [run.corpus(TRAIN).folder, *map(run.stored_folder, run.records.values())]
    max_pieces = run.experiment.example_limit
    return Examples(run.experiment, tokens, list(task.SIDES), texts, max_pieces, symbols, run.seed)


def _say_truncated(plan: Plan) -> None:
    if not isinstance(plan.tokenizer, Subwords):
        return
    for name, folder in plan.tokens.items():
        manifest = folder.manifest()
        if count := manifest["counts"].get(TRUNCATED):
            most = plan.tokenizer.max_length
            say_once(f"cut to {most} subwords: {count:,} of {manifest['rows']:,} rows of '{name}'")
