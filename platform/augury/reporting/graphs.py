"""What an experiment makes: every folder of its graph, what is missing, and a Mermaid flowchart."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from augury.augment.operator import RECORDS
from augury.augment.translation import SENTENCES_PER_SECOND
from augury.core.locks import usable
from augury.core.progress import duration
from augury.core.store import Folder
from augury.corpora.corpus import KIND as CORPORA
from augury.corpora.ingest import cached_address
from augury.experiments.estimates import seed_cost
from augury.experiments.graph import TRAIN, Graph, Plan, Step, dev_sets
from augury.experiments.record import KIND as RUNS
from augury.experiments.record import SCORES
from augury.experiments.task import find_task

Kind = Literal["corpus", "fit", "view", "records", "tokenizer", "tokens", "model", "scores"]


@dataclass(frozen=True)
class Node:
    """One thing that is stored, whether it exists or not; what is damaged does not."""

    kind: Kind
    name: str
    """For people: `train`, `rot-1`, `+BT`."""
    address: str
    """Its folder in the storage."""
    inputs: tuple[str, ...]
    """The addresses of the nodes that it is made from."""
    step: Step
    """The step that makes it, of several the first."""
    exists: bool
    seconds: float | None
    """The estimated time to make it; None where it is not known, 0 where it exists."""


def nodes(graph: Graph) -> list[Node]:
    """Return the nodes of a graph, inputs first; corpora are read to estimate costs."""
    by_address: dict[str, Node] = {}
    for plan in graph.plans.values():
        for node in (*_texts(graph, plan), *_models(graph, plan)):
            by_address.setdefault(node.address, node)
    return list(by_address.values())


def mermaid(nodes: Sequence[Node]) -> str:
    """Return nodes as a Mermaid flowchart, with one box for the tokens of a training, and one for
    all seeds of its model, or of its scores."""
    boxes: dict[tuple[str, ...], list[Node]] = {}
    for node in nodes:
        key: tuple[str, ...] = (node.address,)
        if node.kind in ("tokens", "model", "scores"):
            key = (node.kind, node.step.address, node.name if node.kind != "tokens" else "")
        boxes.setdefault(key, []).append(node)
    numbers = {node.address: number for number, box in enumerate(boxes.values()) for node in box}
    trainings = {node.step.address: node.name for node in nodes if node.kind == "model"}
    lines = ["flowchart LR"]
    for number, box in enumerate(boxes.values()):
        first, missing = box[0], [node for node in box if not node.exists]
        name = trainings.get(first.step.address, "") if first.kind == "tokens" else first.name
        state = f"{len(missing)} of {len(box)} to be made" if missing else "there"
        if seconds := sum(node.seconds or 0.0 for node in missing):
            state += f", about {duration(seconds)}"
        lines.append(f'  n{number}["{html.escape(f"{first.kind} {name}")}<br>{state}"]')
        inputs = {numbers[address] for node in box for address in node.inputs if address in numbers}
        lines += [f"  n{source} --> n{number}" for source in sorted(inputs)]
    return "\n".join(lines) + "\n"


def _texts(graph: Graph, plan: Plan) -> Iterator[Node]:
    """Yield what lies between text files and the tokens of a plan."""
    step, experiment, task = Step(plan.address), plan.experiment, find_task(plan.experiment.task)

    def node(
        kind: Kind, name: str, folder: Folder, inputs: Iterable[str], seconds: float | None
    ) -> Node:
        exists = usable(folder)
        return Node(
            kind, name, folder.name, tuple(inputs), step, exists, 0.0 if exists else seconds
        )

    for split in (TRAIN, *dev_sets(experiment), *experiment.test_sets):
        corpus = plan.store.folder(CORPORA, task.corpus_address(experiment, split))
        yield node("corpus", split, corpus, (), None)
    rows = task.corpus(experiment, TRAIN, plan.store).rows
    for part in plan.parts:
        operator, inputs = part.operator, [part.corpus.name]
        speed = operator.PER_SECOND
        if operator.uses_models:
            speed = min(speed, SENTENCES_PER_SECOND)
        for name, extra in operator.texts().items():
            corpus = plan.store.folder(CORPORA, cached_address(extra, TRAIN))
            inputs.append(corpus.name)
            yield node("corpus", name, corpus, (), None)
        if operator.learns:
            learned_from = task.corpus_address(experiment.first, TRAIN)
            fit_inputs = [f"{CORPORA}/{learned_from}"]
            yield node("fit", part.name, part.fit, fit_inputs, rows / operator.FIT_PER_SECOND)
            inputs.append(part.fit.name)
        inputs += [name for name in part.model_names.values() if name.startswith(f"{RUNS}/")]
        kind: Kind = "records" if operator.makes() == RECORDS else "view"
        yield node(kind, part.name, part.folder, inputs, rows / speed)
    if plan.before is None:
        learned_from_texts = dict.fromkeys(text.folder.name for text in plan.learned_from.values())
        name = graph.names[step]
        yield node("tokenizer", name, plan.tokenizer.folder, learned_from_texts, None)
    for name, text in plan.texts.items():
        inputs = [text.folder.name, plan.tokenizer.folder.name]
        yield node("tokens", name, plan.tokens[name], inputs, rows / task.ROWS_PER_SECOND)


def _models(graph: Graph, plan: Plan) -> Iterator[Node]:
    """Yield the models of a plan with their scores."""
    task, experiment = find_task(plan.experiment.task), plan.experiment
    tokens = tuple(folder.name for folder in plan.tokens.values())
    cost = seed_cost(experiment, plan.store)
    tests = tuple(
        f"{CORPORA}/{task.corpus_address(experiment, test)}" for test in experiment.test_sets
    )
    for step, name in graph.names.items():
        if step.address != plan.address or step.seed is None:
            continue
        run = plan.run(step.seed)
        before = [plan.before.run(step.seed)] if plan.before else []
        inputs = (*tokens, *(folder.name for folder in before))
        seconds = 0.0 if run.complete else cost and cost.seconds
        yield Node("model", name, run.name, inputs, step, run.complete, seconds)
        if step in graph.scored:
            scores = f"{run.name}/{SCORES}"
            exists = run.exists(SCORES)
            # The cost of a model has that of its evaluation.
            yield Node("scores", name, scores, (run.name, *tests), step, exists, 0.0)
