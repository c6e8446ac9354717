from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from augury.text.eda.synonyms import load_stop_words, load_synonyms, stop_words_file, synonyms_file

from augury.core.errors import UserError

SYNSETS = """synset\tpos\tlexfile\tmembers\thypernyms
06626039-n\tn\tnoun.communication\tmovie|film|motion picture\t06625937-n
03343737-n\tn\tnoun.artifact\tfilm|photographic film\t
00326738-s\ts\tadj.all\tfabian|Fabian\t
00001740-n\tn\tnoun.Tops\tentity\t
"""


def written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def wordnet(directory: Path, text: str = SYNSETS) -> str:
    (directory / "synsets.tsv.gz").write_bytes(gzip.compress(text.encode()))
    return str(directory)


def test_a_table_adds_up_over_lines_and_is_sorted(tmp_path: Path) -> None:
    path = written(
        tmp_path / "table.tsv",
        "dog\thound, canine\n\ncat\tkitty\r\ndog\tanimal,hound,canis_familiaris\n",
    )
    assert load_synonyms(path) == {
        "dog": ("animal", "canine", "canis familiaris", "hound"),
        "cat": ("kitty",),
    }


def test_a_word_is_no_synonym_of_itself_whatever_its_case(tmp_path: Path) -> None:
    path = written(tmp_path / "table.tsv", "dog\tDog,hound\ncat\tcat\n")
    assert load_synonyms(path) == {"dog": ("hound",)}


def test_words_are_composed_as_those_of_a_corpus(tmp_path: Path) -> None:
    path = written(tmp_path / "table.tsv", "cafe\u0301\tbistro\n")
    assert load_synonyms(path) == {"caf\u00e9": ("bistro",)}


@pytest.mark.parametrize(
    "line", ["dog", "dog\t", "\thound", "dog\thound,,canine", "dog\thound\tcanine"]
)
def test_a_line_that_is_no_entry_is_named(tmp_path: Path, line: str) -> None:
    path = written(tmp_path / "table.tsv", f"cat\tkitty\n{line}\n")
    with pytest.raises(
        UserError, match=r"table\.tsv, line 2: .* is not an entry; use word<TAB>synonym"
    ):
        load_synonyms(path)


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    (tmp_path / "table.tsv").write_bytes("cat\tkitty\nMädchen\tDirn\n".encode("latin1"))
    with pytest.raises(UserError, match=r"table\.tsv, line 2, byte 2: 0xe4 is not UTF-8"):
        load_synonyms(str(tmp_path / "table.tsv"))


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    written(tmp_path / "table.tsv", "cat\tkitty\n")
    with pytest.raises(UserError, match="did you mean '.*table.tsv'"):
        load_synonyms(str(tmp_path / "tables.tsv"))


def test_wordnet_gives_the_members_of_all_synsets_of_a_word(tmp_path: Path) -> None:
    assert load_synonyms(wordnet(tmp_path)) == {
        "movie": ("film", "motion picture"),
        "film": ("motion picture", "movie", "photographic film"),
    }


def test_a_directory_without_wordnet_is_an_error(tmp_path: Path) -> None:
    written(tmp_path / "senses.tsv.gz", "")
    with pytest.raises(UserError, match=r"no file .*synsets\.tsv\.gz"):
        load_synonyms(str(tmp_path))


def test_a_wordnet_of_another_form_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"synsets\.tsv\.gz, line 3 has 2 columns, but the header has 5"
    ):
        load_synonyms(wordnet(tmp_path, "\n".join(SYNSETS.split("\n")[:2] + ["03343737-n\tfilm"])))
    with pytest.raises(UserError, match=r"synsets\.tsv\.gz has no column 'members'"):
        load_synonyms(wordnet(tmp_path, SYNSETS.replace("members", "lemmas")))


def test_open_english_wordnet(data: Path) -> None:
    synonyms = load_synonyms(str(data / "wordnet_oewn"))
    assert len(synonyms) == 52_691
    assert synonyms["movie"] == (
        "film",
        "flick",
        "motion picture",
        "motion-picture show",
        "moving picture",
        "moving-picture show",
        "pic",
        "picture",
        "picture show",
    )
    assert "entity" not in synonyms


def test_stop_words_are_read_in_lower_case(tmp_path: Path) -> None:
    assert load_stop_words(written(tmp_path / "words", "The\nof\r\n\nÜber\n")) == {
        "the",
        "of",
        "über",
    }
    with pytest.raises(
        UserError, match=r"words, line 2: 'of the' is not a stop word; give one word per line"
    ):
        load_stop_words(written(tmp_path / "words", "a\nof the\n"))


def test_stop_words_of_another_list(data: Path) -> None:
    assert len(load_stop_words(str(data / "wordnet_oewn" / "stopwords.german.txt"))) == 232


def test_the_bundled_lists() -> None:
    """The table serves words that EDA may change, and every synonym is new and in plain letters."""
    synonyms, stop_words = load_synonyms(), load_stop_words()
    assert (len(synonyms), len(stop_words)) == (342, 186)
    assert not synonyms.keys() & stop_words
    assert {"a", "the", "not", "don't", "is"} <= stop_words
    assert synonyms["movie"] == ("film", "motion picture", "picture")
    for word, others in synonyms.items():
        assert 1 <= len(others) <= 4 and list(others) == sorted(set(others) - {word})
        assert all(
            part.isascii() and part.isalpha() and part.islower()
            for other in others
            for part in other.split()
        )


def test_files_by_default_lie_in_the_package() -> None:
    assert synonyms_file().parent == stop_words_file().parent
    assert synonyms_file().is_file() and stop_words_file().is_file()
