from __future__ import annotations

import json
from typing import Any

from augury.reporting.document import document


def test_no_text_of_a_chart_ends_its_script(read: Any, hostile: str) -> None:
    found = read(document("title", "", {"chart": {"data": [{"name": hostile}]}}))
    assert found.tags.count("img") == 0
    assert json.loads(found.texts["script"][0]) == {"chart": {"data": [{"name": hostile}]}}
