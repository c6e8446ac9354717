"""What an experiment makes: every folder of its graph, and a Mermaid flowchart of them."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from augury.augment.operator import RECORDS
from augury.core.locks import usable
from augury.core.store import Folder
from augury.corpora.corpus import KIND as CORPORA
from augury.corpora.ingest import cached_address
from augury.experiments.graph import TRAIN, Graph, Plan, Step, dev_sets
from augury.experiments.record import KIND as RUNS
from augury.experiments.record import SCORES
from augury.experiments.task import find_task


class Node(NamedTuple):
    """One thing that is stored, whether it exists or not; what is damaged does not."""

    kind: str
    """corpus, fit, view, records, tokenizer, tokens, model or scores."""
    name: str
    """For people: `train`, `rot-1`, `+BT`."""
    address: str
    """Its folder in the storage."""
    inputs: tuple[str, ...]
    """The addresses of the nodes that it is made from."""
    exists: bool


def nodes(graph: Graph) -> list[Node]:
    """Return the nodes of a graph, inputs first."""
    by_address: dict[str, Node] = {}
    for plan in graph.plans.values():
        for node in (*_texts(graph, plan), *_models(graph, plan)):
            by_address.setdefault(node.address, node)
    return list(by_address.values())


def mermaid(nodes: Sequence[Node]) -> str:
    """Return nodes as a Mermaid flowchart, with one box for all seeds of a model, or of its
    scores."""
    boxes: dict[str, list[Node]] = {}
    for node in nodes:
        boxes.setdefault(node.address.partition("/seed-")[0] + node.kind, []).append(node)
    numbers = {node.address: number for number, box in enumerate(boxes.values()) for node in box}
    lines = ["flowchart LR"]
    for number, box in enumerate(boxes.values()):
        missing = sum(not node.exists for node in box)
        state = f"{missing} of {len(box)} to be made" if missing else "there"
        title = html.escape(f"{box[0].kind} {box[0].name}")
        lines.append(f'  n{number}["{title}<br>{state}"]')
        inputs = {numbers[address] for node in box for address in node.inputs if address in numbers}
        lines += [f"  n{source} --> n{number}" for source in sorted(inputs)]
    return "\n".join(lines) + "\n"


def _texts(graph: Graph, plan: Plan) -> Iterator[Node]:
    """Yield what lies between text files and the tokens of a plan."""
    experiment, task = plan.experiment, find_task(plan.experiment.task)
    trained = graph.names[Step(plan.address)]

    def node(kind: str, name: str, address: str, inputs: Iterable[str] = ()) -> Node:
        exists = usable(Folder(plan.store.root, address))
        return Node(kind, name, address, tuple(inputs), exists)

    for split in (TRAIN, *dev_sets(experiment), *experiment.test_sets):
        yield node("corpus", split, f"{CORPORA}/{task.corpus_address(experiment, split)}")
    for part in plan.parts:
        inputs = [part.corpus.name]
        for name, extra in part.operator.texts().items():
            inputs.append(f"{CORPORA}/{cached_address(extra, TRAIN)}")
            yield node("corpus", name, inputs[-1])
        if part.operator.learns:
            learned_from = f"{CORPORA}/{task.corpus_address(experiment.first, TRAIN)}"
            yield node("fit", part.name, part.fit.name, [learned_from])
            inputs.append(part.fit.name)
        inputs += [name for name in part.model_names.values() if name.startswith(f"{RUNS}/")]
        kind = "records" if part.operator.makes() == RECORDS else "view"
        yield node(kind, part.name, part.folder.name, inputs)
    if plan.before is None:
        texts = dict.fromkeys(text.folder.name for text in plan.learned_from.values())
        yield node("tokenizer", trained, plan.tokenizer.folder.name, texts)
    for name, text in plan.texts.items():
        inputs = [text.folder.name, plan.tokenizer.folder.name]
        yield node("tokens", name, plan.tokens[name].name, inputs)


def _models(graph: Graph, plan: Plan) -> Iterator[Node]:
    """Yield the models of a plan with their scores."""
    task, experiment = find_task(plan.experiment.task), plan.experiment
    tokens = [folder.name for folder in plan.tokens.values()]
    tests = [f"{CORPORA}/{task.corpus_address(experiment, test)}" for test in experiment.test_sets]
    for step, name in graph.names.items():
        if step.address != plan.address or step.seed is None:
            continue
        run = plan.run(step.seed)
        before = [plan.before.run(step.seed).name] if plan.before else []
        inputs = (*tokens, *before)
        yield Node("model", name, run.name, inputs, run.complete)
        if step in graph.scored:
            scores = f"{run.name}/{SCORES}"
            exists = run.exists(SCORES)
            yield Node("scores", name, scores, (run.name, *tests), exists)
