"""Pages of the site that are not files of docs/: those of the root folder, the reference of all
settings, and that of the API.

A hook of mkdocs, named in mkdocs.yml. A page of the root folder lies beside the pages of docs/ on
the site, so that its links lose the folder. The API reference has a page for every package, with
all its modules, so that a new module needs no entry anywhere.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
}
DEPLOY = sorted(f"deploy/{path.name}" for path in (ROOT / "deploy").iterdir())
FILES = ("CITATION.cff", "LICENSE", "cluster.yaml", *DEPLOY)
API = ("platform/augury/*", "platform/toy_languages", "trainables/*", "search_spaces")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of the API behind the written pages."""
    assert config.nav is not None
    config.nav.append({"Python API": [{name: f"api/{name}.md"} for name in packages()]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the root folder, of the settings and of the API."""
    for name, page in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    settings = runpy.run_path(str(ROOT / "docs" / "reference.py"))["render"]()
    files.append(File.generated(config, "reference.md", content=settings))
    for name in FILES:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    for name, modules in packages().items():
        lines = [f"# {name}", *(f"::: {module}" for module in modules)]
        files.append(File.generated(config, f"api/{name}.md", content="\n\n".join(lines) + "\n"))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Return a page with the links that hold on the site."""
    return re.sub(r"\]\((?:\.\./|docs/)", "](", markdown)


def packages() -> dict[str, list[str]]:
    """Return the modules of every package that have a docstring, by the name of the package."""
    found = {"augury": ["augury.api"]}
    for pattern in API:
        for folder in sorted(ROOT.glob(pattern)):
            source_root = ROOT / "platform" if pattern.startswith("platform") else ROOT
            modules = [
                ".".join(path.relative_to(source_root).with_suffix("").parts)
                for path in sorted(folder.rglob("*.py"))
                if path.stem not in ("__init__", "__main__")
            ]
            if modules:
                found[".".join(folder.relative_to(source_root).parts)] = modules
    return found
