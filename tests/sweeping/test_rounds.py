"""Combinations of the best methods."""

from __future__ import annotations

from augury.sweeping.proposals import combined_rows

CIPHER, NOISE, DROP = {"operator": "cipher"}, {"operator": "noise"}, {"operator": "word_drop"}
AGREE, ATTACK, PLAIN = ({"name": name} for name in ("coregularised", "adversarial", "plain"))
ROWS = {
    "cipher": {"augment": [CIPHER], "regime": AGREE},
    "R-Drop": {"augment": [], "regime": AGREE},
    "PGD": {"augment": [], "regime": ATTACK},
    "noise": {"augment": [NOISE], "regime": PLAIN},
    "drop": {"augment": [DROP], "regime": PLAIN},
}
FAMILIES = {"cipher": "views", "R-Drop": "views", "PGD": "attacks", "noise": "records"}


def test_the_best_is_combined_with_the_next_of_other_families_that_have_no_other_regime() -> None:
    assert combined_rows(["cipher", "R-Drop", "PGD", "noise"], ROWS, FAMILIES) == {
        ("cipher", "noise"): {"augment": [CIPHER, NOISE], "regime": AGREE}
    }
    families = FAMILIES | {"drop": "draws"}
    three = combined_rows(["noise", "cipher", "drop", "PGD"], ROWS, families)
    assert list(three) == [("noise", "cipher"), ("noise", "drop")]
    assert three["noise", "cipher"] == {"augment": [NOISE, CIPHER], "regime": AGREE}


def test_rows_without_a_family_are_not_combined() -> None:
    assert combined_rows(["cipher", "drop"], ROWS, FAMILIES) == {}
