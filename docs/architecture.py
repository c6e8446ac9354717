"""Draw which room imports which into docs/architecture.md: `python docs/architecture.py`.

A room is a package of augury, or another package of the project. Imports are those anywhere in a
file, within functions too. An arrow that follows from others is left out, so that what is drawn is
the shortest picture with the same order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "```mermaid\n", "```\n"
PACKAGES = {
    "search_spaces": ROOT,
    "trainables": ROOT,
    "augury": ROOT / "platform",
    "toy_languages": ROOT / "platform",
}
"""The packages of the project, and the source root of each."""


def picture() -> str:
    """Return the rooms and their imports as a Mermaid flowchart, from the top down."""
    imports = room_imports()
    below = {room: set(_reached(room, imports)) for room in imports}
    lines = ["flowchart TD"]
    for room in sorted(imports, key=lambda room: (-len(below[room]), room)):
        implied = {far for near in imports[room] for far in below[near]}
        lines += [f"    {room} --> {near}" for near in sorted(imports[room] - implied)]
    return "\n".join(lines) + "\n"


def room_imports() -> dict[str, set[str]]:
    """Return the rooms that each room imports."""
    imports: dict[str, set[str]] = {}
    for package, source_root in PACKAGES.items():
        for file in sorted((source_root / package).rglob("*.py")):
            room = _room(".".join(file.relative_to(source_root).with_suffix("").parts))
            if room is not None:
                found = {_room(module) for module in _imported(file)}
                imports.setdefault(room, set()).update(found - {None, room})
    return imports


def _room(module: str) -> str | None:
    """Return the room of a module; None for one of another project and for `augury` itself."""
    package, *rest = module.split(".")
    if package != "augury":
        return package if package in PACKAGES else None
    folder = PACKAGES["augury"] / "augury"
    rooms = {path.stem for path in folder.iterdir() if path.stem[0] not in "_."}
    return rest[0] if rest and rest[0] in rooms else None


def _imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _reached(room: str, imports: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield the rooms that a room imports through others too."""
    for near in imports[room]:
        yield near
        yield from _reached(near, imports)


def redrawn(page: str) -> str:
    """Return the page with the picture as it is now."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + picture() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(redrawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
