"""What the README and the pages of docs/ tell people to type exists and works."""

from __future__ import annotations

import json
import re
import runpy
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from augury.augment import operator
from augury.augment.operator import OPERATORS
from augury.cli import main
from augury.cli.verbs import VERBS
from augury.core.config import merge
from augury.core.store import Store
from augury.corpora import builtin
from augury.corpora.known import KNOWN, KNOWN_NLI
from augury.experiments.spec import TASKS, parse
from augury.experiments.systems import expand
from augury.regimes.regime import REGIMES
from augury.reporting.papers import table as published
from augury.sweeping import declarations, space
from tests.commands import parsed

ROOT = Path(__file__).parents[2]
PAGES = {page.stem: page for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}
FOLDERS = ("platform", "trainables", "search_spaces", "benchmarks", "deploy")
NAMING = {".py", ".sh", ".yaml"}
"""Files with messages and comments that name pages."""
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES.values())


def block(page: str, language: str, holding: str = "") -> str:
    """Return the first block of a language on a page that holds a text."""
    blocks: list[str] = re.findall(
        rf"```{language}\n(.*?)```", PAGES[page].read_text(encoding="utf-8"), re.DOTALL
    )
    return next(text for text in blocks if holding in text)


def test_its_table_is_of_the_demo_as_it_is(tmp_path: Path) -> None:
    """`make docs` writes both anew."""
    kept = json.loads((ROOT / "docs" / "demo.json").read_text(encoding="utf-8"))
    addresses = runpy.run_path(str(ROOT / "docs" / "make.py"))["addresses"]
    assert kept["addresses"] == addresses(str(tmp_path))
    assert kept["table"] in PAGES["README"].read_text(encoding="utf-8")


def test_its_recipe_for_noisy_text_is_valid() -> None:
    compared = expand(parse(yaml.safe_load(block("translation", "yaml", "+BT:"))))
    assert [len(system.chain) for system in compared.values()] == [1, 2, 2, 2, 2, 2, 3, 1]
    operators = [[operator.operator for operator in system.augment] for system in compared.values()]
    assert operators[2:6] == [
        ["back_translation"],
        ["fuzzy_match"],
        ["forward_translation"],
        ["forward_translation", "fuzzy_match"],
    ]


def test_its_experiment_is_what_init_writes_and_passes_the_preflight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    for role, size in (("train", 2001), ("dev", 50), ("news", 50)):
        pairs = list(islice(builtin.pairs("train"), size))
        Path("data", f"{role}.de").write_text("".join(f"{german}\n" for german, _ in pairs))
        Path("data", f"{role}.en").write_text("".join(f"{english}\n" for _, english in pairs))
    lines = (line for line in TEXT.splitlines() if line.startswith("augury init my.yaml"))
    command = next(line for line in lines if "--valid" in line)
    assert main(command.split()[1:]) == 0
    written = yaml.safe_load(Path("my.yaml").read_text())
    del written["storage"]
    assert yaml.safe_load(block("translation", "yaml")) == written
    capsys.readouterr()
    assert main(["config", "my.yaml", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["systems"], facts["test_sets"], facts["runs"]) == (
        ["baseline", "CipherDAug"],
        ["news"],
        6,
    )


def test_its_operator_works(tmp_path: Path) -> None:
    path = tmp_path / "uppercase.py"
    path.write_text(block("extending", "python", "OPERATOR"), encoding="utf-8")
    parsed = operator.parse({"operator": str(path)})
    assert [part.name() for part in parsed.parts()] == ["uppercase"]
    block_ = pa.table({"id": ["a", "b"], "source": ["haus ä", "Maus"]})
    table = parsed.bind({}, Store(tmp_path))(block_).table
    assert table.to_pydict() == {"id": ["a", "b"], "text": ["HAUS Ä", "MAUS"]}


def test_its_operator_shows_these_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("uppercase.py").write_text(block("extending", "python", "OPERATOR"), encoding="utf-8")
    shown = block("extending", "text", "example 5")
    pairs = re.findall(r"^  text +(.*) \| (.*)$", shown, re.MULTILINE)
    for file, sentences in zip(("a.de", "a.en"), zip(*pairs, strict=True), strict=True):
        Path(file).write_text("".join(f"{sentence}\n" for sentence in sentences))
    command = next(line for line in TEXT.splitlines() if line.endswith("--show 5"))
    assert main(command.split()[1:]) == 0
    assert capsys.readouterr().out.endswith(shown)


def test_its_space_can_be_swept(tmp_path: Path) -> None:
    """Its base is the experiment that another page shows."""
    (tmp_path / "my.yaml").write_text(block("translation", "yaml"), encoding="utf-8")
    path = tmp_path / "smoothing.yaml"
    path.write_text(block("sweeps", "yaml"), encoding="utf-8")
    search_space = space.find(str(path))
    for point, value in zip(space.points(search_space), [0.0, 0.1, 0.2], strict=True):
        assert parse(merge(search_space.base, point)).regime.label_smoothing == value


def test_its_table_can_be_reproduced() -> None:
    table = published.find(str(ROOT / "docs" / "examples" / "smoothing.py"))
    printed = [table.printed[row]["test2016"].published for row in table.rows]
    assert printed == [26.1, 27.4]
    assert [
        parse(merge(table.space.base, row)).regime.label_smoothing
        for row in table.space.rows.values()
    ] == [0, 0.1]


def test_its_commands_can_be_typed() -> None:
    blocks = [
        text
        for language, text in re.findall(r"```(\w*)\n(.*?)```", TEXT, re.DOTALL)
        if not language
    ]
    commands = [verb for text in blocks for verb, _ in parsed(text)]
    assert len(set(commands)) > 10


def test_it_names_every_space_verb_and_known_corpus() -> None:
    for name in declarations.SPACES.names():
        assert f"| `{name}` |" in TEXT, name
    for verb in VERBS:
        assert f"augury {verb}" in TEXT or f"make {verb}" in TEXT, verb
    for name in (*KNOWN, *KNOWN_NLI):
        assert name in TEXT, name
    for goal in re.findall(r"make (demo|docs|install|site|test)", TEXT):
        assert f"\n{goal}:" in (ROOT / "Makefile").read_text()


def test_the_worked_example_is_the_file() -> None:
    source = (ROOT / "docs" / "examples" / "sentiment.py").read_text(encoding="utf-8")
    assert block("extending", "python", "SentimentExperiment").strip() in source


def test_the_reference_has_every_setting() -> None:
    """The page is built into the site."""
    page = runpy.run_path(str(ROOT / "docs" / "reference.py"))["render"]()
    shown = {
        heading.strip("`"): set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
        for heading, text in re.findall(
            r"^#+ (?:Task )?(\S+)$(.*?)(?=^#|\Z)", page, re.MULTILINE | re.DOTALL
        )
    }
    schemas = {name: TASKS.find(name).EXPERIMENT for name in TASKS.names()}
    schemas |= {name: OPERATORS.find(name) for name in OPERATORS.names()}
    schemas |= {name: REGIMES.find(name) for name in REGIMES.names()}
    for name, schema in {**schemas, "SearchSpace": declarations.SearchSpace}.items():
        assert shown[name] == {*schema.model_fields}, name


def test_the_picture_of_the_rooms_is_of_the_code_as_it_is() -> None:
    """`python docs/architecture.py` draws it anew."""
    drawn = runpy.run_path(str(ROOT / "docs" / "architecture.py"))
    page = PAGES["architecture"].read_text(encoding="utf-8")
    assert drawn["redrawn"](page) == page


def test_links_lead_somewhere() -> None:
    for page in [*PAGES.values(), ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_pages_that_messages_name_exist() -> None:
    sources = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.*")]
    texts = [file.read_text(encoding="utf-8") for file in sources if file.suffix in NAMING]
    named = {name for text in texts for name in re.findall(r"\b(docs/\w[\w/-]*\.md)\b", text)}
    assert named and all((ROOT / name).is_file() for name in named), named
