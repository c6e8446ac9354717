"""Commands that terminal and pages print can be typed and run."""

from __future__ import annotations

import ast
import base64
import html
import re
from pathlib import Path

import pytest
import yaml

from augury.cli import verbs
from tests import commands, tiny
from tests.cli.conftest import Augury

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def printed(text: str, pages: list[Path]) -> tuple[list[list[str]], dict[str, str]]:
    """Return the words of every `augury` command, and the experiment files that pages offer."""
    shown, files = [text], {}
    for page in pages:
        content = page.read_text(encoding="utf-8")
        for _, block in re.findall(r"<(code|pre)\b[^>]*>(.*?)</\1>", content, re.DOTALL):
            shown.append(html.unescape(re.sub(r"<[^>]+>", "", block)))
        for tag in re.findall(r"<a [^>]*download=[^>]*>", content):
            name, data = re.search(r'download="([^"]+)"', tag), re.search(r'base64,([^"]+)"', tag)
            assert name and data
            files[html.unescape(name[1])] = base64.b64decode(data[1]).decode()
    return [argv for block in shown for argv in commands.words(block)], files


@pytest.mark.trains
def test_commands_of_a_training_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, augury: Augury
) -> None:
    monkeypatch.chdir(tmp_path)
    training = {"max_updates": 2, "validate_every": 1}  # a race decides at validations
    content = tiny.content("nmt", tmp_path / "store", baseline=True, training=training)
    Path("my.yaml").write_text(yaml.safe_dump(content))
    checked = augury("config", "my.yaml", "--set", "seeds=[1, 2]")
    told = "\n".join([*checked, *augury("train", "my.yaml")])
    typed, files = printed(told, list(tmp_path.glob("store/**/*.html")))
    assert {argv[0] for argv in typed} == {"train", "sweep", "translate"}
    assert ["train", "my.yaml", "--set", "seeds=[1, 2]"] in typed
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    for argv in typed:
        augury(*argv, *(["--dry-run"] if argv[0] == "sweep" else []))


def messages() -> str:
    """Return all strings of the source, a line each."""
    texts = []
    for folder in ("platform", "trainables", "search_spaces"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    texts.append(node.value)
                elif isinstance(node, ast.JoinedStr):
                    parts = (getattr(part, "value", None) for part in node.values)
                    texts.append("".join(part if isinstance(part, str) else "X" for part in parts))
    return "\n".join(text for text in texts if "augury" in text or "--" in text)


def test_commands_that_any_message_names_have_verbs_and_flags_that_exist() -> None:
    """Messages of errors too, which no test can all bring about."""
    named = {
        (match[1], tuple(match[2].split()))
        for match in re.finditer(r"\baugury (?!augury)([a-z]+)\b([^`'\"\n;,)]*)", messages())
    }
    assert len(named) > 50
    for verb, words in named:
        assert verb in verbs.VERBS, (verb, words)
        flags = {word for word in words if word.startswith("--")}
        assert flags <= verbs.parser(verb, ())._option_string_actions.keys(), (verb, words)
