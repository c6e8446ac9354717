"""Prompts as Jinja templates: what they read, what they are refused, and those with names."""

from __future__ import annotations

from typing import Any

import pytest

from augury.augment import templates
from augury.augment.operator import check_columns, parse
from augury.core.errors import UserError
from augury.corpora.corpus import LABELLED, LABELLED_PAIRS, NLI, PARALLEL

PAIR = {
    "id": "1",
    "source": "ein Haus",
    "target": "a house",
    "source_language": "de",
    "target_language": "en",
}


def generate(**settings: Any) -> Any:
    return parse({"operator": "generate", "model": "a", **settings})


def test_a_template_is_filled_with_columns_and_examples() -> None:
    template = "{{ source_language | language }}:{% for e in examples %} {{ e.source }}{% endfor %}"
    assert templates.columns_of(template) == ["source_language"]
    assert templates.render(template, PAIR, [{"source": "x"}, {"source": "y"}]) == "German: x y"
    assert templates.render("{{ '{{ id }}' }}{{ source }}", {**PAIR, "source": "{{ id }}"}, []) == (
        "{{ id }}{{ id }}"
    )


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ examples[0].target }}", "record 1: UndefinedError: .*no attribute 'target'"),
        ("{{ source.__class__.__mro__ }}", "SecurityError"),
        ("{{ source }}{{ examples.append(1) }}", "SecurityError"),
        ("{% include '/etc/hostname' %}{{ source }}", "cannot be filled"),
    ],
)
def test_what_a_template_must_not_do_is_an_error(template: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        templates.render(template, PAIR, [{"source": "x"}])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prompt": "{{ sorce }}", "fills": ["target"]}, "'sorce', .* id, source, .*'source'"),
        ({"prompt": "{{ label }}", "fills": ["target"]}, "reads 'label', and these .* id, source"),
        ({"prompt": "{{ views }}", "fills": ["target"]}, "reads 'views'"),
        ({"prompt": "paraphrase", "fills": ["text"]}, "no 'text' to be filled"),
        ({"prompt": "{{ source }}", "fills": ["origin"]}, "give fills, of source, target$"),
        ({"prompt": "translate", "label": "other"}, "label: other is for records with labels"),
        ({"prompt": "translate", "filters": {"teacher": "a"}}, "filters.teacher is for records"),
    ],
)
def test_columns_that_records_do_not_have_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        check_columns(generate(**settings), PARALLEL.schema.names)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prompt": "paraphase"}, "unknown prompt 'paraphase': did you mean 'paraphrase'"),
        ({"prompt": "Write a sentence.", "fills": ["source"]}, "reads no column"),
        ({"prompt": "{{ source", "fills": ["source"]}, "no Jinja template: line 1"),
        ({"prompt": "{{ source }}"}, "groups of answer are"),
        ({"prompt": "{{ source }}", "fills": ["source", "target"]}, "give answer"),
        ({"prompt": "translate", "answer": "(?P<source>.)"}, "groups of answer are .'source'"),
        ({"prompt": "translate", "answer": "("}, "no regular expression"),
        ({"prompt": "translate", "temperature": 0, "copies": 2}, "all 2 copies are the same"),
        (
            {"prompt": "{{ text }}", "answer": "(?P<label>.)", "label": "other"},
            "asks for a label, and fills has one",
        ),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        generate(**settings)


RECORDS: dict[str, tuple[Any, list[str]]] = {
    "paraphrase": (LABELLED_PAIRS.schema, ["sentence1"]),
    "translate": (PARALLEL.schema, ["target"]),
    "hypothesis": (NLI.schema, ["hypothesis"]),
    "noisy": (PARALLEL.schema, ["source"]),
    "example": (LABELLED.schema, ["text"]),
}


@pytest.mark.parametrize("name", templates.PROMPTS)
def test_a_named_prompt_is_written_out_and_reads_its_records(name: str) -> None:
    """Written out, it is the same again, as `augury config --resolved` prints it."""
    schema, fills = RECORDS[name]
    operator = generate(prompt=name, fills=fills)
    assert parse(operator.to_dict()) == operator and operator.prompt != name
    check_columns(operator, schema.names)
    record = {column: "neutral" if column == "label" else column for column in schema.names}
    prompt = templates.render(operator.prompt, record, [record])
    assert prompt.endswith(":") and "COLUMN" not in prompt and "\n\n" not in prompt
    assert (f": {fills[0]}" in prompt or f"- {fills[0]}" in prompt) and "nothing else" in prompt
