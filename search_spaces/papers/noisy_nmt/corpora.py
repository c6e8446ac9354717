"""The texts of the paper and their replacements at smaller scales, by direction."""

from __future__ import annotations

from typing import Any, NamedTuple

from augury.corpora.known import data_file
from search_spaces.scales import size_of

TESTS = ("MTNT", "MTNT2019", "newstest2014", "newsdiscusstest2015")
Text = dict[str, Any]


class Corpora(NamedTuple):
    """The texts of a direction at a scale."""

    clean: list[Text]
    same: Text
    """Noisy text of the same direction."""
    other: Text
    """Noisy text of the other direction, to be read reversed."""
    opposite: Text
    """The same text as that of a model of the other direction."""
    opposite_valid: Text | None
    """The noisy development set of that model; None: the one of this direction, read the other
    way."""
    noisy_source: Text
    noisy_target: Text
    """Texts of one language."""
    speech: Text
    spoken: Text
    """Text of which there are recordings."""
    valid: list[Text]
    """Clean and noisy."""
    tests: dict[str, Text]


_SPELLING = {"ch": "x", "ei": "ai", "th": "d", "ou": "u", "ee": "i", "s": "z"}


def _builtin(size: int, seed: int = 1, noisy: bool = False, lexicon: int = 400) -> Text:
    return {
        "builtin": size,
        "seed": seed,
        "lexicon": lexicon,
        **({"replace": _SPELLING} if noisy else {}),
    }


def _toy() -> Corpora:
    return Corpora(
        clean=[_builtin(2000)],
        same=_builtin(200, 2, noisy=True),
        other=_builtin(300, 3, noisy=True),
        opposite=_builtin(300, 3, noisy=True),
        opposite_valid=None,
        noisy_source=_builtin(300, 4, noisy=True),
        noisy_target=_builtin(300, 5, noisy=True),
        speech=_builtin(500, 6, lexicon=600),
        spoken=_builtin(500, 7, lexicon=600),
        valid=[_builtin(100), _builtin(100, 2, noisy=True)],
        tests={
            "MTNT": _builtin(200, 2, noisy=True),
            "MTNT2019": _builtin(200, 3, noisy=True),
            "newstest2014": _builtin(200),
            "newsdiscusstest2015": _builtin(200, 5),
        },
    )


def _mtnt(name: str, source: str, target: str, start: float = 0.0, end: float = 1.0) -> Text:
    whole = _table(f"mtnt/{name}.{source}-{target}.tsv.gz", "src", "tgt")
    return whole if (start, end) == (0.0, 1.0) else {**whole, "portion": [start, end]}


def _column(text: Text, column: str) -> Text:
    """One side of a table as a text of one language."""
    return {
        **{key: value for key, value in text.items() if not key.endswith("_column")},
        "text_column": column,
    }


def _table(file: str, source: str, target: str, **settings: Any) -> Text:
    return {"file": data_file(file), "source_column": source, "target_column": target, **settings}


def _news(source: str, target: str, name: str) -> Text:
    return _table("wmt_news/news.fr-en.tsv.gz", source, target, where={"set": name})


_TRAINED_ON = (
    "news-test2008",
    "newssyscomb2009",
    "newstest2009",
    "newstest2010",
    "newstest2011",
    "newstest2012",
)


def _small(source: str, target: str) -> Corpora:
    """MTNT has a development set of each direction, and of French-English a test set."""
    tested = source == "fr"
    tuning, dev = ((0.0, 0.5), (0.5, 1.0)) if tested else ((0.0, 0.4), (0.4, 0.6))
    test = _mtnt("test", source, target) if tested else _mtnt("valid", source, target, 0.6, 1.0)
    other = _mtnt("valid", target, source, 0.0, 0.5)
    alone = _mtnt("valid", target, source, 0.5, 1.0)
    clean = [{**_news(source, target, name), "weight": 2} for name in _TRAINED_ON]
    tatoeba = _table("tatoeba/tatoeba.fr-en.tsv.gz", source, target)
    speech, spoken = ({**tatoeba, "portion": portion} for portion in ([0.0, 0.07], [0.07, 0.14]))
    return Corpora(
        clean=[*clean, {**tatoeba, "weight": 0.5}],
        same=_mtnt("valid", source, target, *tuning),
        other=other,
        opposite=other,
        opposite_valid=None,
        noisy_source=_column(alone, "tgt"),
        noisy_target=_column(alone, "src"),
        speech=speech,
        spoken=spoken,
        valid=[
            {**_news(source, target, "newstest2013"), "portion": [0.0, 0.4]},
            _mtnt("valid", source, target, *dev),
        ],
        tests={"MTNT": test, **{name: _news(source, target, name) for name in TESTS[2:]}},
    )


def _aligned(name: str, source: str, target: str, **settings: Any) -> Text:
    return {
        "source": data_file(f"{name}.{source}"),
        "target": data_file(f"{name}.{target}"),
        **settings,
    }


_WMT15 = ("giga-fren.release2.fixed", "undoc.2000.fr-en", "commoncrawl.fr-en", "europarl-v7.fr-en")


def _paper(source: str, target: str) -> Corpora:
    """The names of files are those of the distributions."""
    clean = [
        _aligned(f"wmt15/{name}", source, target) for name in (*_WMT15, "news-commentary-v10.fr-en")
    ]
    direction = f"{source}-{target}"
    mtnt = {name: _released(name, direction) for name in ("train", "valid", "test")}
    other = _released("train", f"{target}-{source}")
    return Corpora(
        clean=clean,
        same=mtnt["train"],
        other=other,
        opposite=other,
        opposite_valid=_released("valid", f"{target}-{source}"),
        noisy_source={"lines": data_file(f"mtnt/monolingual.{source}")},
        noisy_target={"lines": data_file(f"mtnt/monolingual.{target}")},
        speech=_aligned("iwslt17/train.tags.fr-en", source, target, format="wit3"),
        spoken=_aligned("must_c/train", source, target),
        valid=[_aligned("wmt15/newsdiscussdev2015.fr-en", source, target), mtnt["valid"]],
        tests={
            "MTNT": mtnt["test"],
            "MTNT2019": _aligned(f"mtnt2019/test.{direction}", source, target),
            **{name: _aligned(f"wmt15/{name}.fr-en", source, target) for name in TESTS[2:]},
        },
    )


def _released(name: str, direction: str) -> Text:
    return _table(f"mtnt/{name}.{direction}.tsv", "src", "tgt", header=["comment_id", "src", "tgt"])


def corpora(scale: str, source: str, target: str) -> Corpora:
    """Return the texts of a direction at a scale; at toy scale it is always German to English."""
    name = size_of(scale)
    return _toy() if name == "toy" else {"small": _small, "paper": _paper}[name](source, target)


def languages(scale: str, source: str, target: str) -> tuple[str, str]:
    """Return the languages of a direction at a scale."""
    return ("de", "en") if scale == "toy" else (source, target)
