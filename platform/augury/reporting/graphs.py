"""A graph of what is made, for people: as a table, and as a Mermaid drawing.

Tokens of one training, the seeds of one model, and corpora that are read for the same are drawn as
one box.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from augury.augment import pipeline
from augury.augment.operator import RECORDS, Fitted, UsesModels
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
from augury.reporting.tables import plain_text, records

TOGETHER = ("tokens", "model", "scores")
"""The kinds of nodes that are one box for each training."""


@dataclass(frozen=True)
class Box:
    """Nodes that are shown together."""

    kind: Kind
    name: str
    nodes: Sequence[Node]
    inputs: Sequence[int]
    """The places of the boxes that it is made from."""

    @property
    def there(self) -> int:
        """The number of nodes that exist."""
        return sum(node.exists for node in self.nodes)

    @property
    def complete(self) -> bool:
        """Whether all nodes exist."""
        return self.there == len(self.nodes)

    @property
    def seconds(self) -> float | None:
        """The estimated time to make what is missing; None where that of a node is not known."""
        seconds = [node.seconds for node in self.nodes if not node.exists]
        known = [value for value in seconds if value is not None]
        return sum(known) if len(known) == len(seconds) else None

    @property
    def state(self) -> str:
        """What exists, and the cost of the rest."""
        if self.complete:
            return "there"
        part = f"{self.there} of {len(self.nodes)} there, " if len(self.nodes) > 1 else ""
        if self.kind == "scores":
            return f"{part}with the model"
        return f"{part}{'to be made' if self.seconds is None else duration(self.seconds)}"

    @property
    def seeds(self) -> list[int]:
        """The seeds of a model."""
        return [node.step.seed for node in self.nodes if node.step.seed is not None]

    @property
    def title(self) -> str:
        """Kind and name."""
        seeds = f", {len(self.seeds)} seeds" if len(self.seeds) > 1 else ""
        return f"{self.kind} {self.name}{seeds}"

    @property
    def address(self) -> str:
        """The address of its nodes, without the seeds of several."""
        if self.kind in ("corpus", "tokens") and len(self.nodes) > 1:
            return f"{len(self.nodes)} texts"
        address = self.nodes[0].address
        return address.partition("/seed-")[0] if len(self.seeds) > 1 else address


def boxes(nodes: Sequence[Node]) -> list[Box]:
    """Return the boxes of nodes, inputs first; names that repeat say which training is meant."""
    groups: dict[tuple[str, ...], list[Node]] = {}
    for node in nodes:
        key: tuple[str, ...] = (node.address,)
        if node.kind in TOGETHER:
            key = (node.kind, node.step.address, node.name if node.kind != "tokens" else "")
        elif node.kind == "corpus":
            readers = (reader.address for reader in nodes if node.address in reader.inputs)
            key = (node.kind, *readers)
        groups.setdefault(key, []).append(node)
    place = {node.address: number for number, group in enumerate(groups.values()) for node in group}
    trainings = {node.step.address: node.name for node in nodes if node.kind == "model"}
    made: list[Box] = []
    for group in groups.values():
        node, inputs = group[0], [address for node in group for address in node.inputs]
        name = trainings.get(node.step.address, "") if node.kind == "tokens" else node.name
        if node.kind == "corpus":
            name = ", ".join(corpus.name for corpus in group)
        if any((box.kind, box.name) == (node.kind, name) for box in made):
            name = f"{name} of {trainings.get(node.step.address, node.address)}"
        places = sorted({place[address] for address in inputs if address in place})
        made.append(Box(node.kind, name, group, places))
    return made


def text(nodes: Sequence[Node]) -> str:
    """Return the graph as a table for terminals: what exists, what is missing, what it costs."""
    rows = [
        {
            "kind": box.kind,
            "name": box.name,
            "seeds": ", ".join(map(str, box.seeds)) or None,
            "state": box.state,
            "address": box.address,
        }
        for box in boxes(nodes)
    ]
    return plain_text([records(rows, notes=(summary(nodes),), kind="words")])


def summary(nodes: Sequence[Node]) -> str:
    """Return how much exists, and the time that the rest takes one after the other."""
    there = sum(node.exists for node in nodes)
    if there == len(nodes):
        return f"all {there} parts are there"
    seconds = sum(node.seconds or 0.0 for node in nodes)
    return (
        f"{there} of {len(nodes)} parts are there; what is missing takes about "
        f"{duration(seconds)}, one after the other"
    )


def mermaid(nodes: Sequence[Node]) -> str:
    """Return the graph as a Mermaid flowchart."""
    lines = ["flowchart LR"]
    drawn = boxes(nodes)
    for number, box in enumerate(drawn):
        label = f"{box.title}<br>{box.state}".replace('"', "'").replace("<br>", "\0")
        label = label.replace("<", "&lt;").replace(">", "&gt;").replace("\0", "<br>")
        lines.append(f'  n{number}["{label}"]:::{"there" if box.complete else "missing"}')
        lines += [f"  n{source} --> n{number}" for source in _arrows(drawn, number)]
    lines.append("  classDef there fill:#d7f0e2,stroke:#2a9461,color:#1b1f24")
    lines.append("  classDef missing fill:#ffffff,stroke:#7b828c,color:#1b1f24")
    return "\n".join(lines) + "\n"


def _arrows(drawn: Sequence[Box], number: int) -> list[int]:
    """Return the inputs of a box that are drawn: without those that another input needs too."""
    inputs = drawn[number].inputs
    needed: set[int] = set()
    waiting = [further for source in inputs for further in drawn[source].inputs]
    while waiting:
        source = waiting.pop()
        if source not in needed:
            needed.add(source)
            waiting += drawn[source].inputs
    return [source for source in inputs if source not in needed]


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
        if isinstance(operator, UsesModels):
            speed = min(speed, SENTENCES_PER_SECOND)
        for name, extra in pipeline.extra_texts(operator).items():
            corpus = plan.store.folder(CORPORA, cached_address(extra, TRAIN))
            inputs.append(corpus.name)
            yield node("corpus", name, corpus, (), None)
        if isinstance(operator, Fitted):
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
