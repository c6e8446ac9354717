"""Known public NLI corpora; the table `known_nli.yaml` lists them."""

from __future__ import annotations

from dataclasses import dataclass

from augury.core.errors import nearest
from augury.corpora.known import KnownSet, KnownSets


@dataclass(frozen=True, kw_only=True)
class NliSet(KnownSet):
    """A public NLI corpus; its languages are those of the texts without a `language` setting."""

    def check(self, split: str, language: str) -> None:
        """Raise ValueError if the set does not have this split in a language."""
        if "language" not in self.texts[split] and language not in self.languages:
            raise ValueError(
                f"{self.name} has no {split} in '{language}': {nearest(language, self.languages)}"
            )


KNOWN = KnownSets("known_nli.yaml", NliSet)
XNLI_LANGUAGES = tuple(KNOWN["xnli"].languages)
