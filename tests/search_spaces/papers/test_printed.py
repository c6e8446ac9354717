"""What the tables of papers print, to the last value, as it was compared with the papers."""

from __future__ import annotations

import pytest

from augury.reporting.papers.table import find

PRINTED = {
    ("cipherdaug/table1", "paper"): (6, 10078500.0),
    ("cipherdaug/table2", "paper"): (18, 6085.33),
    ("cipherdaug/table3", "paper"): (11, 2399.26),
    ("cipherdaug/table3", "paper/iwslt14-en-de"): (11, 1949.7),
    ("cipherdaug/table3", "paper/iwslt17-fr-en"): (11, 1418.5),
    ("cipherdaug/table3", "paper/iwslt17-en-fr"): (11, 1455.45),
    ("cipherdaug/table3", "paper/wmt14-en-de"): (11, 999.8),
    ("cipherdaug/table4", "paper"): (8, 1329.36),
    ("cipherdaug/table5", "paper"): (11, 1661.12),
    ("cipherdaug/table5", "paper/ted-en-sk"): (11, 633.72),
    ("cipherdaug/table6", "paper"): (8, 4954823333.24),
    ("cipherdaug/table7", "paper"): (2, 122550.24),
    ("cipherdaug/table8", "paper"): (2, 51.0),
    ("cipherdaug/table9", "paper"): (6, 1412001294.19),
    ("cipherdaug/table11", "paper"): (8, 1237.43),
    ("cipherdaug/table12", "paper"): (8, 1312.74),
    ("cipherdaug/table13", "paper"): (14, 3850.93),
    ("cipherdaug/figure5", "paper"): (1, 0.27),
    ("cipherdaug/figure6", "paper"): (2, 371.4),
    ("cipherdaug/figure7", "paper"): (1, 99.0),
    ("cipherdaug/figure8", "paper"): (1, 77.0),
    ("noisy_nmt/table2", "paper"): (2, 544.43),
    ("noisy_nmt/table3", "paper"): (10, 30624.71),
    ("noisy_nmt/table4", "paper"): (15, 51463.8),
    ("noisy_nmt/table5", "paper"): (8, 1299.3),
    ("noisy_nmt/table6", "paper"): (6, 638.5),
    ("xnli_adversarial/table2", "paper"): (13, 1325920.9),
    ("xnli_adversarial/table3", "paper"): (5, 257847.8),
    ("xnli_adversarial/table4", "paper"): (10, 680012.3),
    ("xnli_adversarial/table5", "paper"): (14, 1767019.8),
    ("xnli_adversarial/figure2", "paper"): (2, 3184.2),
}
"""Table and scale -> its rows, and the sum of all values times their places."""
DIVERSE = [f"data-diverse, {data}" for data in ("base", "bwd.", "fwd.", "bidir.")]
BORROWED = {
    ("cipherdaug/table3", "paper/iwslt17-fr-en"): ["BPE-Dropout"],
    ("cipherdaug/table3", "paper/iwslt17-en-fr"): ["BPE-Dropout"],
    ("cipherdaug/table4", "paper"): ["R-DROP"],
    ("cipherdaug/table12", "paper"): DIVERSE,
    ("cipherdaug/table13", "paper"): ["R-DROP"],
}
"""The rows whose values are another paper's."""


@pytest.mark.parametrize("where", PRINTED)
def test_values_are_those_that_are_printed_and_those_of_other_papers_are_known(
    where: tuple[str, str],
) -> None:
    printed = find(*where).printed
    values = [value.published for row in printed.values() for value in row.values()]
    total = sum(place * value for place, value in enumerate(values, 1))
    assert (len(printed), pytest.approx(total)) == PRINTED[where]
    borrowed = [
        row for row, cells in printed.items() if any(cell.borrowed for cell in cells.values())
    ]
    assert borrowed == BORROWED.get(where, [])


def test_printed_values_have_the_rows_and_columns_of_the_paper() -> None:
    for name, row, column, value in (
        ("cipherdaug/table2", "CipherDAug - 2 keys", "mean", 37.60),
        ("cipherdaug/table6", "Transformer-256, 12k", "Train Θ", 37e6),
        ("cipherdaug/figure8", "CipherDAug-2 keys", "plain", 7),
        ("noisy_nmt/table3", "+double tune", "MTNT", 40.57),
        ("xnli_adversarial/table4", "+RA +SA +PGD (20k)", "mean", 73.0),
    ):
        assert find(name, "paper").printed[row][column].published == value


def test_the_dagger_is_of_two_keys_against_one() -> None:
    marks = find("cipherdaug/table3", "paper").marks
    found = {row: (mark["mark"], mark["against"]) for row, mark in marks.items()}
    assert found["CipherDAug - 1 key"] == ("*", "Transformer")
    assert found["CipherDAug - 2 keys"] == ("†", "CipherDAug - 1 key")
