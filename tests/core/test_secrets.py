"""Passwords and keys do not leave in messages, output and files."""

from __future__ import annotations

import io
import json
import string
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.cli.common import print_json
from augury.core import messages
from augury.core.secrets import RedactedStream, redacted
from augury.core.store import Store
from augury.reporting.rendering import environment

SECRETS = st.text(string.ascii_letters + string.digits + "/+%_.-", min_size=8, max_size=40)
URIS = [
    "s3://KEY:{}@bucket/augury",
    "postgresql+psycopg2://u:{}@db/mlflow",
    "s3://bucket/augury?region=eu&secret_key={}",
    "https://host/x?X-Amz-Signature={}",
    "AWS_SECRET_ACCESS_KEY={}",
]


@given(uri=st.sampled_from(URIS), secret=SECRETS.map(lambda text: f"Zq{text}"))
@settings(max_examples=80)
def test_no_secret_leaves(uri: str, secret: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    text, output = f"cannot open '{uri.format(secret)}': denied", io.StringIO()
    with redirect_stdout(RedactedStream(output)):  # type: ignore[type-var]
        print(text)
        print_json({"storage": uri.format(secret)})
    with redirect_stderr(output), messages.shown():
        messages.say(f"warning: {text}")
    written = ""
    if "://" in uri:
        folder = Store(tmp_path_factory.getbasetemp()).folder("secrets", "a")
        folder.write_record("record.json", {"storage": uri.format(secret)})
        written = folder.read("record.json").decode()
        written += environment().from_string("{{ place }}").render(place=uri.format(secret))
    assert output.getvalue().count("denied") == 2
    assert secret not in redacted(text) + output.getvalue() + written


def test_what_texts_are_made_of_stays(tmp_path: Path) -> None:
    folder, learned = Store(tmp_path).folder("fits", "a"), {"words": ["token=5", "http://a:b@c"]}
    folder.write("fitted.json", json.dumps(learned))
    assert json.loads(folder.read("fitted.json")) == learned
    folder.write_record("run.json", {"prompt": "password=x"})
    assert folder.read_record("run.json")["prompt"] == "password=x"


def test_other_text_stays() -> None:
    mail = "echo 'eine E-Mail an me@example.org' | augury translate my"
    for text in ("sqlite:////home/me/mlflow.db", mail, '{"text": "a://b", "other": "me@x"}'):
        assert redacted(text) == text
