"""Storages that fill with runs and sweeps, and a reader of pages."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.run_folders import Results, Sweeps

VOID = {"meta", "link", "br", "img", "line", "circle", "input"}


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path / "results")


@pytest.fixture
def sweeps(results: Results) -> Sweeps:
    return Sweeps(results)


class Page(HTMLParser):
    """The text, the tags and the addresses of a page; fails on tags that do not match."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str | None] = []
        self.ids: list[str | None] = []
        self.texts: dict[str, list[str]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "data", "action")]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


@pytest.fixture
def read() -> Callable[[str], Page]:
    def page(html: str) -> Page:
        reader = Page()
        reader.feed(html)
        reader.close()
        assert reader.open == []
        return reader

    return page


@pytest.fixture
def hostile() -> str:
    """A name that would load something if it were not escaped."""
    return "</script><img src=http://evil.example/x onerror=alert(1)>"
