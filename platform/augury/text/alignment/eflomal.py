"""Word alignment with eflomal (Östling and Tiedemann 2016): a hidden Markov model with fertilities,
by Gibbs sampling.

eflomal is an optional package: `pip install 'augury[eflomal]'`. Its random seed cannot be set, so
that results vary.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from augury.core.errors import UserError
from augury.core.progress import Stage, say_once
from augury.text.alignment.model import Links
from augury.text.alignment.symmetrise import BOTH

LONGEST = 1_023
"""Maximum number of words; longer sentences have no links."""


def align(sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> Links:
    """Return the links of a parallel text that fits in memory, in both directions, ignoring case.

    Raises UserError if the package is not installed or no sentence pair has words on both sides.
    """
    require()
    from eflomal import Aligner

    pairs = list(zip(sources, targets, strict=True))
    if not any(source and target for source, target in pairs):
        raise UserError("no sentence pair has words on both sides: check the text to align")
    long = sum(len(source) > LONGEST or len(target) > LONGEST for source, target in pairs)
    if long:
        say_once(
            f"eflomal does not align {long:,} sentence pairs with more than {LONGEST:,} words on "
            "a side"
        )
    with (
        tempfile.TemporaryDirectory() as directory,
        Stage("align with eflomal", len(pairs), "pairs") as stage,
    ):
        paths = [str(Path(directory, direction)) for direction in BOTH]
        Aligner().align(_lines(sources), _lines(targets), *paths)
        links = {direction: _links(path) for direction, path in zip(BOTH, paths, strict=True)}
        stage.advance(len(pairs))
    return links


def require() -> None:
    """Raise UserError with the command to install the package if it is missing."""
    try:
        import eflomal  # noqa: F401
    except ImportError as error:
        raise UserError(
            "the aligner eflomal needs the package `eflomal`: pip install 'augury[eflomal]' "
            "(requires a C compiler), or use the aligner hmm"
        ) from error


def _lines(sentences: Sequence[Sequence[str]]) -> list[str]:
    """Return sentences with words replaced by numbers, because eflomal would split words at
    Unicode white space."""
    numbers: dict[str, str] = {}

    def numbered(words: Sequence[str]) -> str:
        return " ".join(numbers.setdefault(word.lower(), str(len(numbers))) for word in words)

    return [numbered(words) for words in sentences]


def _links(path: str) -> list[list[tuple[int, int]]]:
    links = []
    for line in Path(path).read_text().splitlines():
        pairs = [link.split("-") for link in line.split()]
        links.append(sorted((int(source), int(target)) for source, target in pairs))
    return links
