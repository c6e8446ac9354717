"""What later rounds add to the plan of a sweep: combinations of the best methods."""

from __future__ import annotations

from typing import Any

from augury.sweeping.proposals import combined_rows

CIPHER, NOISE, TYPOS, DROP = (
    {"operator": name} for name in ("cipher", "noise", "typos", "word_drop")
)
AGREE, ATTACK, PLAIN = ({"name": name} for name in ("coregularised", "adversarial", "plain"))
ROWS: dict[str, Any] = {
    "cipher": {"augment": [CIPHER], "regime": AGREE},
    "R-Drop": {"augment": [], "regime": AGREE},
    "PGD": {"augment": [], "regime": ATTACK},
    "noise": {"augment": [NOISE], "regime": PLAIN},
    "typos": {"augment": [TYPOS], "regime": PLAIN},
    "drop": {"augment": [DROP], "regime": PLAIN},
    "alone": {"augment": [DROP], "regime": PLAIN},
}
FAMILIES = {
    **{"cipher": "views", "R-Drop": "views", "PGD": "attacks"},
    **{"noise": "records", "typos": "records", "drop": "draws"},
}


def test_the_best_is_combined_with_the_next_of_other_families_that_have_no_other_regime() -> None:
    assert combined_rows(["cipher", "R-Drop", "PGD", "noise"], ROWS, FAMILIES) == {
        "cipher + noise": {"augment": [CIPHER, NOISE], "regime": AGREE}
    }
    related = combined_rows(["noise", "typos", "cipher"], ROWS, FAMILIES)
    assert list(related) == ["noise + cipher"]
    three = combined_rows(["noise", "cipher", "drop", "PGD"], ROWS, FAMILIES)
    assert list(three) == ["noise + cipher", "noise + drop"]
    assert three["noise + cipher"] == {"augment": [NOISE, CIPHER], "regime": AGREE}
    assert combined_rows(["cipher", "alone"], ROWS, FAMILIES) == {}  # it has no family
