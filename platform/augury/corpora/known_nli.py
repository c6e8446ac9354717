"""Known public NLI corpora; the table `known_nli.yaml` lists them."""

from __future__ import annotations

from dataclasses import dataclass

from augury.core.errors import nearest
from augury.corpora.known import KnownSet, read


@dataclass(frozen=True, kw_only=True)
class NliSet(KnownSet):
    """A public NLI corpus; its languages are those of the texts without a `language` setting."""

    def check(self, split: str, language: str) -> None:
        """Raise ValueError if the set does not have this split in a language."""
        if "language" not in self.texts[split] and language not in self.languages:
            raise ValueError(
                f"{self.name} has no {split} in '{language}': {nearest(language, self.languages)}"
            )


KNOWN = {name: NliSet(name=name, **facts) for name, facts in read("known_nli.yaml").items()}
XNLI_LANGUAGES = tuple(KNOWN["xnli"].languages)
