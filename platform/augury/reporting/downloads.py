"""Files inside a page."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable

from markupsafe import Markup

from augury.core.store import Folder
from augury.reporting.report import Code, Details, Download, Downloads
from augury.reporting.run_files import experiment_yaml

TYPES = {"csv": "text/csv", "tex": "text/x-tex", "md": "text/markdown", "yaml": "application/yaml"}
LABELS = {"csv": "CSV", "tex": "LaTeX", "md": "Markdown"}


def download(label: str, file: str, content: str) -> Download:
    """Return a download of a page; its ending determines its type."""
    kind = TYPES[file.rpartition(".")[2]]
    return Download(
        label,
        file,
        f"data:{kind};charset=utf-8;base64,{base64.b64encode(content.encode()).decode()}",
    )


def downloads(title: str, **contents: str) -> list[Download]:
    """Return one table as downloads of several types, named after `title`: `csv="..."`,
    `tex="..."`."""
    return [
        download(LABELS[ending], f"{file_name(title)}.{ending}", text)
        for ending, text in contents.items()
    ]


def experiment_file(name: str, runs: Iterable[Folder], seeds: Iterable[int]) -> Details | None:
    """Return a system's experiment file, to be read and downloaded; None where no run keeps one."""
    content = next((text for run in runs if (text := experiment_yaml(run, seeds))), None)
    if content is None:
        return None
    file = f"{file_name(name)}.yaml"
    return file_details(
        Markup("{}: <code>augury train {}</code>").format(name, file), file, content
    )


def file_details(summary: str, file: str, content: str) -> Details:
    """Return an experiment file, folded away, to be read and downloaded."""
    return Details(
        summary, [Downloads([download("experiment file", file, content)]), Code(content)]
    )


def file_name(title: str) -> str:
    """Return a file name, without ending, for a title."""
    return re.sub(r"[^\w.-]+", "-", title).strip("-.") or "file"
