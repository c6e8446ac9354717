"""Prepare runs: from text files to everything that training reads, each step stored under its
address."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from augury.augment import health, pipeline
from augury.augment.draw import Symbols
from augury.augment.noisy_tests import noisy_test
from augury.augment.operator import RECORDS, VIEW, Operator
from augury.core import config
from augury.core.locks import make_once
from augury.core.progress import say_once
from augury.core.store import Folder, Store
from augury.corpora.corpus import KIND as CORPORA
from augury.corpora.ingest import warn_of_overlap
from augury.experiments import operator_models
from augury.experiments.examples import Examples, of_record
from augury.experiments.record import run_folder
from augury.experiments.recording import Recording, unrecorded
from augury.experiments.run import Input, Run
from augury.experiments.spec import Experiment
from augury.experiments.task import find_task
from augury.regimes.regime import SOURCE, TARGET, reads_per_pass
from augury.text.subwords.tokenizer import TRUNCATED, Subwords
from augury.text.tokens import KIND as TOKENS
from augury.text.tokens import Text, Tokenizer, Tokens, tokenise
from augury.training.settings import without_end

VERSION = 1
"""Raised when the preparation of the same inputs changes; part of every run's address."""
TRAIN, VALID = "train", "valid"


@dataclass(frozen=True)
class Plan:
    """The addresses of everything between the corpora and a run, whether it exists or not."""

    parts: Sequence[pipeline.Part]
    learned_from: Mapping[str, Text]
    """The texts that the tokenizer is learned from: sides of the corpus and views, by name.

    Records are left out, so that systems with and without them have equal pieces for plain text.
    """
    tokenizer: Tokenizer
    texts: Mapping[str, Text]
    """All texts that are tokenised: those of `learned_from`, records, and the sides of the
    validation set."""
    tokens: Mapping[str, Folder]
    address: str
    prefix: str
    """The hash of everything that determines training, except when it ends."""
    before: str | None = None
    """The address of the stage before; None for a first stage."""


def address(experiment: Experiment, store: Store) -> str:
    """Return the address of the run that an experiment describes.

    Reads the corpora's files and makes nothing.
    """
    return plan(experiment, store, operator_models.resolve_models(experiment, store)).address


def plan(experiment: Experiment, store: Store, models: Sequence[pipeline.Models]) -> Plan:
    """Return the plan of a run, given the models that its operators use; nothing is made."""
    assert not experiment.stages, (
        "an experiment with stages is its last one: augury.experiments.systems.last_stage"
    )
    task, before = find_task(experiment.task), experiment.before
    corpora = {
        split: task.corpus_address(experiment, split) for split in (TRAIN, *dev_sets(experiment))
    }
    first = experiment.first
    fitted_on = task.corpus_address(first, TRAIN) if before else None
    parts = pipeline.plan(corpora[TRAIN], experiment.augment, store, fitted_on, models)
    train, *dev = (store.folder(CORPORA, address) for address in corpora.values())
    learned_from = {side: Text(train, columns, side) for side, columns in task.SIDES.items()}
    records: dict[str, Text] = {}
    for part in parts:
        into = records if part.operator.makes() == RECORDS else learned_from
        into |= _texts_of(part, task.SIDES)
    if before:
        tokenizer = plan(first, store, operator_models.resolve_models(first, store)).tokenizer
    else:
        tokenizer = task.tokenizer(experiment, learned_from, store)
    valid_texts = {
        held_out(side, split): Text(folder, columns, side)
        for split, folder in zip(dev_sets(experiment), dev, strict=True)
        for side, columns in task.SIDES.items()
    }
    texts = {**learned_from, **records, **valid_texts}
    tokens = {
        name: store.folder(TOKENS, text.address(tokenizer.name)) for name, text in texts.items()
    }
    determined = {
        "task": experiment.task,
        "version": [VERSION, task.VERSION],
        "tokenizer": tokenizer.name,
        "tokens": [[name, folder.name] for name, folder in tokens.items()],
        "draws": [_draw(operator) for operator in experiment.token_draws],
        "regime": experiment.regime.to_dict(),
        "training": experiment.training.to_dict(),
        **task.address_settings(experiment),
    }
    if experiment.is_weighted:
        determined["mixture"] = _shares(experiment)
    earlier = address(before, store) if before else None
    if experiment.stage:
        determined["stage"] = {"before": earlier, "carry": experiment.stage.carry}
    prefix = config.address({**determined, "training": without_end(experiment.training)})
    return Plan(
        parts, learned_from, tokenizer, texts, tokens, config.address(determined), prefix, earlier
    )


def prepare(experiment: Experiment, store: Store, recording: Recording = unrecorded) -> Run:
    """Make missing corpora, views, records, tokenizer and tokens.

    Return the run with the first seed.

    Missing models of operators are trained first; `recording` opens the recorder of their runs.
    """
    task, execution = find_task(experiment.task), experiment.execution
    task.check_model(experiment, store)
    splits = (TRAIN, *dev_sets(experiment), *experiment.test_sets)
    corpora = {split: task.corpus(experiment, split, store) for split in splits}
    train = corpora[TRAIN]
    for test in experiment.test_sets:
        if noise := experiment.corpus.noise(test):
            corpora[test] = noisy_test(corpora[test], noise, train, store, execution)
    warn_of_overlap(train, {name: corpus for name, corpus in corpora.items() if name != TRAIN})
    planned = make_texts(experiment, store, recording)
    work = train.rows * len(planned.texts) / task.ROWS_PER_SECOND
    tokenise(planned.texts, planned.tokens, planned.tokenizer, execution.choose(work, "tokenise"))
    _say_truncated(planned)
    task.check_held_out(
        experiment,
        planned.tokenizer.folder,
        {name: corpus for name, corpus in corpora.items() if name != TRAIN},
    )
    seed = experiment.seeds[0]
    records = {part.name: part.folder for part in planned.parts if part.operator.makes() == RECORDS}
    texts = [train.folder, *records.values()]
    examples = Examples(
        experiment, planned.tokens, list(task.SIDES), texts, experiment.example_limit
    )
    for reason, count in examples.left_out.items():
        say_once(f"left out of training: {count:,} of {examples.rows_read:,} examples, {reason}")
    read = reads_per_pass(examples.view_groups)
    return Run(
        folder=run_folder(store, planned.address, seed),
        address=planned.address,
        seed=seed,
        prefix=planned.prefix,
        experiment=experiment,
        inputs=tuple(
            Input(split, corpus.address, corpus.rows) for split, corpus in corpora.items()
        ),
        tokenizer=planned.tokenizer.folder.name,
        tokens={name: folder.name for name, folder in planned.tokens.items()},
        views={
            part.name: part.folder.name for part in planned.parts if part.operator.makes() == VIEW
        },
        records={name: folder.name for name, folder in records.items()},
        fits={part.name: part.fit.name for part in planned.parts},
        data_factor=examples.texts_read / train.rows,
        passes_by_view={view: share for (view, side), share in read.items() if side == TARGET},
        pieces={
            "pair" if len(columns) > 1 else side: float(Tokens(planned.tokens[side]).lengths.mean())
            for side, columns in task.SIDES.items()
        },
        left_out=examples.left_out,
        health=tuple(output for part in planned.parts if (output := part.health)),
        before=planned.before,
    )


def make_texts(experiment: Experiment, store: Store, recording: Recording = unrecorded) -> Plan:
    """Make missing views, records and tokenizer; return the plan of the run.

    A later stage has the tokenizer of the first, on whose text operators are fitted too.
    """
    task, first = find_task(experiment.task), experiment.first
    train = task.corpus(experiment, TRAIN, store)
    for split in dev_sets(experiment):
        task.corpus(experiment, split, store)
    fit_on = None
    if experiment.stage:
        make_texts(first, store, recording)
        fit_on = task.corpus(first, TRAIN, store)
    models = operator_models.train_models(experiment, store, recording)
    augmented = pipeline.augment(
        train,
        experiment.augment,
        store,
        fit_on=fit_on,
        models=models,
        execution=experiment.execution,
    )
    outputs = [part.health for part in augmented.parts]
    health.require([output for output in outputs if output], experiment.health)
    if augmented.reused:
        say_once(f"found, not made again: {', '.join(augmented.reused)}")
    planned = plan(experiment, store, models)
    folder = planned.tokenizer.folder
    make_once(folder, lambda: task.make_tokenizer(experiment, planned.learned_from, folder))
    return planned


def examples_of(run: Run, symbols: Callable[[], Symbols]) -> Examples:
    """Return the training examples of a run; `symbols` is called only where an operator draws
    from token ids."""
    task = find_task(run.experiment.task)
    tokens = {name: run.stored_folder(folder) for name, folder in run.tokens.items()}
    texts = [run.corpus(TRAIN).folder, *map(run.stored_folder, run.records.values())]
    max_pieces = run.experiment.example_limit
    return Examples(run.experiment, tokens, list(task.SIDES), texts, max_pieces, symbols, run.seed)


def dev_sets(experiment: Experiment) -> tuple[str, ...]:
    """Return the splits that training is validated on; the first decides."""
    return VALID, *experiment.corpus.dev_sets


def held_out(side: str, split: str = VALID) -> str:
    """Return the name of a side of a validation set among a run's tokens."""
    return f"{split} {side}"


def _shares(experiment: Experiment) -> dict[str, Any]:
    """Return the weights and tags of texts and records."""
    shares = {"texts": experiment.corpus.shares, "records": experiment.mixture}
    return {
        kind: {name: share.to_dict() for name, share in of.items()} for kind, of in shares.items()
    }


def _draw(operator: Operator) -> dict[str, Any]:
    """Return the settings that determine a draw.

    The addresses of first versions have no version.
    """
    return operator.to_dict() | ({"version": operator.VERSION} if operator.VERSION > 1 else {})


def _texts_of(part: pipeline.Part, sides: Mapping[str, tuple[str, ...]]) -> dict[str, Text]:
    """Return the texts of a view, with the columns of the first side, or of records with those
    of all sides."""
    if part.operator.makes() == RECORDS:
        return {
            of_record(part.name, side): Text(part.folder, columns, side)
            for side, columns in sides.items()
        }
    columns = sides[SOURCE]
    return {part.name: Text(part.folder, columns if len(columns) > 1 else ("text",), part.name)}


def _say_truncated(planned: Plan) -> None:
    if not isinstance(planned.tokenizer, Subwords):
        return
    for name, folder in planned.tokens.items():
        manifest = folder.manifest()
        if count := manifest["counts"].get(TRUNCATED):
            most = planned.tokenizer.max_length
            say_once(f"cut to {most} subwords: {count:,} of {manifest['rows']:,} rows of '{name}'")
