import pytest
from hypothesis import given
from hypothesis import strategies as st

from toy_languages.nli_languages import AND, NOT, QUANTIFIERS, SUBJECT
from toy_languages.nli_lexicon import LARGEST, SMALLEST, NliLexicon, hypernym, is_a, root


def test_golden_words() -> None:
    words = NliLexicon(96).words
    assert {kind: len(known) for kind, known in words.items()} == {
        "noun": 48,
        "transitive": 16,
        "intransitive": 16,
        "adjective": 16,
    }
    assert {kind: known[:4] for kind, known in words.items()} == {
        "noun": ["sozu", "razu", "tara", "duse"],
        "transitive": ["zopa", "dana", "nino", "jehu"],
        "intransitive": ["bufi", "zapi", "koge", "jobi"],
        "adjective": ["galu", "vemi", "jofa", "subu"],
    }


def test_no_word_is_another() -> None:
    words = [word for known in NliLexicon(LARGEST).words.values() for word in known]
    assert len(words) == len(set(words)) == LARGEST
    assert not {*words} & {*QUANTIFIERS.values(), AND, NOT, SUBJECT}
    assert len({*QUANTIFIERS.values(), AND, NOT, SUBJECT}) == 7


def test_a_smaller_lexicon_is_the_beginning_of_a_larger_one() -> None:
    small, large = NliLexicon(SMALLEST), NliLexicon(LARGEST)
    assert all(large.words[kind][: len(known)] == known for kind, known in small.words.items())


def test_hyponyms_are_what_has_the_hypernym() -> None:
    lexicon = NliLexicon(96)
    assert [hypernym(word) for word in range(10)] == [None] * 4 + [0, 0, 0, 1, 1, 1]
    for kind in ("noun", "transitive", "intransitive"):
        words = range(len(lexicon.words[kind]))
        for word in words:
            assert lexicon.hyponyms(kind, word) == [
                other for other in words if hypernym(other) == word
            ]


@given(st.integers(0, 3000), st.integers(0, 3000))
def test_a_word_is_itself_and_what_is_above_it(word: int, other: int) -> None:
    above, at = [word], hypernym(word)
    while at is not None:
        above.append(at)
        at = hypernym(at)
    assert root(word) == above[-1]
    assert all(is_a(word, ancestor) for ancestor in above)
    assert is_a(word, other) == (other in above)


@pytest.mark.parametrize("size", [SMALLEST - 1, LARGEST + 1])
def test_impossible_sizes(size: int) -> None:
    with pytest.raises(
        ValueError, match=f"no lexicon of {size} words: give a number from 24 to 2000"
    ):
        NliLexicon(size)
