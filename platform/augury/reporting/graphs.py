"""A graph of what is made, for people: as a table, as a Mermaid drawing, and as an SVG file.

Tokens of one training, the seeds of one model, and corpora that are read for the same are drawn as
one box.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import escape

from augury.core.progress import duration
from augury.execution.nodes import Kind, Node
from augury.reporting.page import asset
from augury.reporting.tables import Cell, plain_text, table

TOGETHER = ("tokens", "model", "scores")
"""The kinds of nodes that are one box for each training."""
NOTHING = "–"
WIDTH, HEIGHT, GAP_X, GAP_Y = 168, 40, 44, 12
"""Pixels of a box and between boxes."""
SHOWN = 24
"""Characters of a name in a box."""


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
        return _total(self.nodes)

    @property
    def state(self) -> str:
        """What exists, and the cost of the rest."""
        if self.complete:
            return "there"
        cost = NOTHING if self.seconds is None else duration(self.seconds)
        part = f"{self.there} of {len(self.nodes)} there, " if len(self.nodes) > 1 else ""
        if self.kind == "scores":
            return f"{part}with the model"
        return f"{part}{cost if self.seconds is not None else 'to be made'}"

    @property
    def seeds(self) -> list[int]:
        """The seeds of a model."""
        return [node.step.seed for node in self.nodes if node.step.seed is not None]

    @property
    def title(self) -> str:
        """Kind and name."""
        if len(self.seeds) > 1:
            return f"{self.kind} {self.name}, {len(self.seeds)} seeds"
        return f"{self.kind} {self.name}"

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
        [Cell(box.kind), Cell(box.name), Cell(_seeds(box)), Cell(box.state), Cell(box.address)]
        for box in boxes(nodes)
    ]
    shown = table(
        ("kind", "name", "seeds", "state", "address"), rows, notes=(summary(nodes),), kind="words"
    )
    return plain_text([shown])


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


def image(nodes: Sequence[Node]) -> str:
    """Return the graph as an SVG file with the colours of pages: a column for each step of the way,
    left to right."""
    css = str(asset("page.css"))
    rules = [css.partition("@media")[0], *re.findall(r"^\.graph.*$", css, re.MULTILINE)]
    style = "\n".join(rules)
    drawn = boxes(nodes)
    columns = _columns(drawn)
    corners = _corners(drawn, columns)
    width = max(x for x, _ in corners.values()) + WIDTH + 2
    height = max(y for _, y in corners.values()) + HEIGHT + 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="what is made from what">'
        f"<style>{style}</style>"
    ]
    for number in range(len(drawn)):
        parts += [_line(corners[source], corners[number]) for source in _arrows(drawn, number)]
    for number, box in enumerate(drawn):
        x, y = corners[number]
        state = "there" if box.complete else "missing"
        parts.append(
            f'<g class="{state}"><title>{escape(box.title)}: {escape(box.state)}, '
            f"{escape(box.address)}</title>"
            f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5"/>'
            f'<text x="{x + 8}" y="{y + 17}">{escape(_short(box.title))}</text>'
            f'<text class="state" x="{x + 8}" y="{y + 32}">{escape(_short(box.state))}</text></g>'
        )
    return "".join([*parts, "</svg>\n"])


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


def _columns(drawn: Sequence[Box]) -> list[int]:
    """Return the column of every box: one further than the furthest of its inputs."""
    columns: dict[int, int] = {}

    def column(number: int) -> int:
        if number not in columns:
            columns[number] = 1 + max(map(column, drawn[number].inputs), default=-1)
        return columns[number]

    return [column(number) for number in range(len(drawn))]


def _corners(drawn: Sequence[Box], columns: Sequence[int]) -> Mapping[int, tuple[int, int]]:
    """Return the upper left corner of every box; in a column they follow their inputs."""
    rows: dict[int, float] = {}
    for column in range(max(columns) + 1):
        centres: dict[int, float] = {}
        for number in range(len(drawn)):
            if columns[number] == column:
                sources = _arrows(drawn, number)
                centres[number] = sum(rows[source] for source in sources) / max(1, len(sources))
        lowest = 0.0
        for number in sorted(centres, key=centres.__getitem__):
            rows[number] = max(lowest, centres[number])
            lowest = rows[number] + 1
    corners = {
        number: (1 + columns[number] * (WIDTH + GAP_X), round(1 + row * (HEIGHT + GAP_Y)))
        for number, row in rows.items()
    }
    return corners


def _line(source: tuple[int, int], end: tuple[int, int]) -> str:
    x, y = source[0] + WIDTH, source[1] + HEIGHT // 2
    to_x, to_y = end[0], end[1] + HEIGHT // 2
    middle = (x + to_x) // 2
    return f'<path d="M{x} {y}C{middle} {y} {middle} {to_y} {to_x} {to_y}"/>'


def _seeds(box: Box) -> str:
    return ", ".join(map(str, box.seeds)) or NOTHING


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _total(nodes: Sequence[Node]) -> float | None:
    seconds = [node.seconds for node in nodes if not node.exists]
    known = [value for value in seconds if value is not None]
    return sum(known) if len(known) == len(seconds) else None
