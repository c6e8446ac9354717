"""Check an experiment before it runs: faults, rows left out of its texts, and estimated cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from augury.augment import planning
from augury.augment.mixins import Fitted, UsesModels
from augury.augment.models import ReadyModel
from augury.augment.operator import Operator
from augury.core.locks import usable
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.corpora.ingest import cached_corpus
from augury.corpora.references import stored_references
from augury.execution import cautions
from augury.execution.estimates import estimates
from augury.execution.graph import Graph
from augury.execution.summaries import TextSummary, distinct_texts, summarise, texts_of
from augury.experiments.cost import Cost
from augury.experiments.spec import Experiment
from augury.experiments.task import find_task
from augury.scoring import registry


@dataclass(frozen=True)
class Report:
    """The texts, cautions and estimated cost of an experiment."""

    texts: Sequence[TextSummary]
    cautions: Sequence[str]
    """Reasons to doubt the results."""
    costs: Mapping[str, Cost | None]
    """One seed of every system, and all models of each role of operators; None where the cost
    cannot be estimated."""
    graph: Graph
    warnings: Sequence[str] = ()
    """Those of the cautions that say of a text that it is probably the wrong one."""
    stages: Sequence[str] = ()
    """The names in `costs` that are stages before systems, which run with every seed too."""
    unreachable: Sequence[str] = ()
    """The names of pretrained models of systems, which training would need and cannot have."""


def check(experiments: Iterable[Experiment], graph: Graph) -> list[str]:
    """Raise UserError for experiments that cannot be trained: files, columns, lines, keys, sizes;
    return cautions on their held-out texts.

    Texts are read and operators fitted; earlier stages and the models of operators are checked too.
    """
    listed, store = list(experiments), graph.store
    held_out: list[str] = []
    for experiment in listed:
        experiment.execution.check(experiment.training.workers)
    for experiment in distinct_texts(listed):
        texts = texts_of(experiment, store)
        learned_from = cached_corpus(experiment.first.corpus, "train", store.root)
        for operator in experiment.augment:
            _check_operator(operator, experiment, texts["train"], learned_from, store)
        for test in experiment.test_sets:
            stored_references(experiment.corpus, test, texts[test], store)
            if noise := experiment.corpus.noise(test):
                from augury.augment.noisy_tests import check_noise  # few files have such tests

                check_noise(texts[test], noise)
        for name in experiment.scoring.metrics:
            registry.metric_class(name).require()
        find_task(experiment.task).check(experiment, store)
        held_out += _check_held_out(experiment, graph)
        for operator, models in zip(experiment.augment, experiment.models, strict=True):
            for role, model in models.items():
                if isinstance(model, ReadyModel):
                    from augury.execution.ready_models import ready_views

                    assert isinstance(operator, UsesModels)
                    operator.check_model(role, ready_views(model))
        check([*filter(None, [experiment.before]), *experiment.model_experiments.values()], graph)
    return held_out


def _check_operator(
    operator: Operator, experiment: Experiment, train: Corpus, learned_from: Corpus, store: Store
) -> None:
    """Raise UserError for an operator that cannot make its text."""
    from augury.augment import pipeline  # most experiments have no operator

    for text in planning.extra_texts(operator).values():
        cached_corpus(text, "train", store.root)
    if type(operator).check_text is not Operator.check_text:
        operator.check_text(pipeline.first_records(train, operator))
    fitted = pipeline.fit(learned_from, operator, store, execution=experiment.execution)
    if isinstance(operator, Fitted):
        operator.check_fitted(fitted)


def report(systems: Mapping[str, Experiment], store: Store) -> Report:
    """Check the systems of an experiment; return a report of their texts and estimated cost."""
    graph = Graph(store)
    held_out = check(systems.values(), graph)
    graph.add(systems)
    earlier = graph.earlier_stages
    trained = {name: plan.experiment for name, plan in earlier.items()} | dict(systems)
    texts, costs = summarise(trained, store), estimates(graph)
    missing = cautions.missing_models(systems.values())
    warnings = cautions.text_cautions(trained.values(), store)
    own = {model.name for system in systems.values() if (model := system.pretrained)}
    return Report(
        texts=texts,
        warnings=warnings,
        cautions=[
            *missing.values(),
            *cautions.leaks(trained, store),
            *warnings,
            *cautions.control_characters(texts, store),
            *cautions.label_cautions(texts, systems.values()),
            *held_out,
            *cautions.cautions(systems.values()),
            *cautions.too_late(trained, costs),
        ],
        costs=costs,
        graph=graph,
        stages=list(earlier),
        unreachable=[name for name in missing if name in own],
    )


def _check_held_out(experiment: Experiment, graph: Graph) -> list[str]:
    """Raise UserError where held-out text does not suit the model, by its tokenizer if it is
    there; return warnings."""
    tokenizer = graph.plan(experiment).tokenizer.folder
    texts = texts_of(experiment, graph.store)
    held_out = {name: corpus for name, corpus in texts.items() if name != "train"}
    return find_task(experiment.task).check_held_out(
        experiment, tokenizer if usable(tokenizer) else None, held_out
    )
