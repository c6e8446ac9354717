"""Further references of test sets, stored beside their corpora: a file of them is in no record."""

from __future__ import annotations

from augury.core.config import address
from augury.core.errors import UserError
from augury.core.locks import make_once
from augury.core.naming import counted
from augury.core.store import Folder, Store
from augury.corpora.corpus import Corpus
from augury.corpora.files import read_sentences
from augury.corpora.filters import clean_lines
from augury.corpora.parallel import TextSpec
from augury.corpora.splits import BaseSpec

KIND = "references"
FILE = "references.json"


def stored_references(spec: BaseSpec, test: str, corpus: Corpus, store: Store) -> Folder | None:
    """Return the folder of a test set's further references, made unless the store has it; None
    without any.

    They are cleaned as the target is. UserError for a file that has not one for every record.
    """
    text = spec.resolve(test).text
    if not isinstance(text, TextSpec) or not text.references:
        return None
    sets = []
    for name in text.references:
        lines = read_sentences(name)
        if len(lines[: text.first]) != corpus.rows:
            raise UserError(
                f"{test}: {name} has {counted(len(lines), 'line')}, and the test set "
                f"{counted(corpus.rows, 'record')}: give a reference for every record"
            )
        sets.append(clean_lines(lines[: text.first], spec.preparation))
    folder = store.folder(KIND, address({"references": sets}))

    def write() -> None:
        folder.write_json(FILE, sets)
        folder.finish({"sets": len(sets), "rows": corpus.rows})

    make_once(folder, write)
    return folder


def read_references(folder: Folder) -> list[list[str]]:
    """Return the references in a folder, set by set."""
    sets: list[list[str]] = folder.read_json(FILE)
    return sets
