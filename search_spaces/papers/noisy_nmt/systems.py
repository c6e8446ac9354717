"""The systems of the paper: the stages, operators and mixtures that their rows change."""

from __future__ import annotations

from typing import Any, NamedTuple

from augury.corpora.known import data_file
from search_spaces.papers.noisy_nmt.corpora import Corpora, Text, corpora, languages
from search_spaces.papers.noisy_nmt.settings import (
    RELEASED_TUNING,
    TUNING,
    UNPENALISED,
    experiment,
    named,
)
from search_spaces.scales import RELEASED, size_of

TAGS = (
    "<clean_s>",
    "<MTNT_s>",
    "<MTNT_rev>",
    "<IWSLT_s>",
    "<mustc_s>",
    "<asr_s>",
    "<FT_s>",
    "<NFR_s>",
)
MONOLINGUAL_TAG = "<NFR_mono>"
"""The released code's tag of fuzzy matches of monolingual text."""


class Direction(NamedTuple):
    """The rows of a table of one direction at one scale."""

    scale: str
    source: str
    target: str

    @property
    def texts(self) -> Corpora:
        """The texts."""
        return corpora(self.scale, self.source, self.target)

    def stage(self, train: Text | list[Text], *operators: Any, **mixture: Any) -> dict[str, Any]:
        """Tuning: optimizer and step are carried over, the noisy validation text decides."""
        changes: dict[str, Any] = {
            "carry": "optimizer",
            "corpus.train": train,
            "corpus.decides": "noisy",
        }
        changes |= {**TUNING[self.scale], "augment": list(operators)}
        return {**changes, "mixture": mixture} if mixture else changes

    def same(self, *operators: Any) -> dict[str, Any]:
        """Tune-S, with what operators make."""
        return self.stage(self.texts.same, *operators)

    def both(self, *operators: Any) -> dict[str, Any]:
        """Tune-B, with what operators make."""
        return self.stage(self._both, *operators)

    @property
    def _both(self) -> list[Text]:
        return [
            {"name": "same", **self.texts.same},
            {"name": "other", **self.texts.other, "reversed": True},
        ]

    @property
    def fuzzy(self) -> dict[str, Any]:
        """Fuzzy matches within the noisy text, and in the paper of monolingual text, among ten
        candidates each."""
        operator = {"operator": "fuzzy_match", "threshold": 0.5}
        if size_of(self.scale) != "paper":
            return operator
        both = {"both_directions": False} if self.scale == RELEASED else {}
        return {
            **operator,
            **both,
            "candidates": "containment",
            "monolingual": self._noisy_source,
        }

    @property
    def forward(self) -> dict[str, Any]:
        """Noisy source text, translated by the plain model of the stage, Tune-B."""
        return {
            "operator": "forward_translation",
            "monolingual": self._noisy_source,
            **self._search,
        }

    @property
    def backward(self) -> dict[str, Any]:
        """Noisy target text, translated by Tune-S of the other direction."""
        _, written = languages(self.scale, self.source, self.target)
        valid = self.texts.opposite_valid
        return {
            "operator": "back_translation",
            "monolingual": {"language": written, "train": self.texts.noisy_target},
            "system": {
                "corpus.train": self.texts.opposite,
                **({"corpus.valid.1": {"name": "noisy", **valid}} if valid else {}),
            },
            **self._search,
        }

    @property
    def _noisy_source(self) -> dict[str, Any]:
        read, _ = languages(self.scale, self.source, self.target)
        return {"language": read, "train": self.texts.noisy_source}

    @property
    def _search(self) -> dict[str, Any]:
        """How the models of operators search, as the systems themselves do."""
        return {"decoding": UNPENALISED} if size_of(self.scale) == "paper" else {}

    def transcripts(self, ratio: float) -> dict[str, Any]:
        """Transcripts of the spoken text.

        Where there are none, confusions of words that sound alike.
        """
        if size_of(self.scale) != "paper":
            return {"operator": "noise", "asr": {1.5: 0.36, 1.2: 0.32}[ratio]}
        return {
            "operator": "asr_transcript",
            "transcripts": data_file("must_c/train.asr.en"),
            "max_ratio": ratio,
            "indicators": "drop",
            "text": "spoken",
        }

    def asr(self, ratio: float) -> dict[str, Any]:
        """Tuning on transcripts alone, the text that was spoken is not read."""
        operator = self.transcripts(ratio)
        spoken = [{"name": "spoken", **self.texts.spoken, "weight": 0}]
        return {
            "stages": {
                "speech": self.stage(spoken, operator, **{operator["operator"]: {"weight": 1}})
            }
        }

    def rows(self) -> dict[str, dict[str, Any]]:
        """The rows that both directions have, by what is read."""
        fuzzy, forward, speech = self.fuzzy, self.forward, {"name": "speech", **self.texts.speech}
        staged: dict[str, dict[str, Any]] = {
            "Baseline": {},
            "Tune-S": {"tune": self.same()},
            "+BT": {"tune": self.same(self.backward)},
            "Tune-B": {"both": self.both()},
            "+FM": {"both": self.both(fuzzy)},
            "+FT": {"both": self.both(forward)},
            "+FT+FM": {"both": self.both(forward, fuzzy)},
            "+double tune": {"both": self.both(forward, fuzzy), "again": self.same()},
            "IWSLT": {"speech": self.stage(self.texts.speech)},
            "MTNT+IWSLT": {"both": self.stage([*self._both, speech])},
        }
        if self.scale == RELEASED:
            for name, stages in staged.items():
                for stage, changes in stages.items():
                    changes |= RELEASED_TUNING.get("again" if stage == "again" else name, {})
        return {name: {"stages": stages} if stages else {} for name, stages in staged.items()}

    def mixed(self) -> dict[str, Any]:
        """One training on all text, with a tag for every kind."""
        texts, transcripts = self.texts, self.transcripts(1.5)
        same, other = self._both
        train = [{**text, "tag": "<clean_s>"} for text in named(texts.clean, "clean")]
        train += [
            {**same, "tag": "<MTNT_s>", "weight": 6},
            {**other, "tag": "<MTNT_rev>", "weight": 6},
        ]
        train += [{"name": "speech", **texts.speech, "tag": "<IWSLT_s>"}]
        train += [{"name": "spoken", **texts.spoken, "tag": "<mustc_s>"}]
        plain = experiment(self.scale, self.source, self.target)
        model = {
            "corpus": plain["corpus"],
            "vocabulary": plain["vocabulary"],
            "stages": {"both": self.both()},
        }
        tests = {
            name: "<MTNT_s>" if name.startswith("MTNT") else "<clean_s>" for name in texts.tests
        }
        further = (
            {"fuzzy_match-mono": {"tag": MONOLINGUAL_TAG}} if "monolingual" in self.fuzzy else {}
        )
        return {
            "corpus.train": train,
            "corpus.decides": "noisy",
            "corpus.valid.0.tag": "<clean_s>",
            "corpus.valid.1.tag": "<MTNT_s>",
            **{f"corpus.tests.{name}.tag": tag for name, tag in tests.items()},
            "vocabulary.reserved": [*TAGS, *(share["tag"] for share in further.values())],
            "augment": [
                {**self.forward, "system": model},
                {**self.fuzzy, "of": ["same", "other"]},
                transcripts | ({} if size_of(self.scale) == "paper" else {"of": ["spoken"]}),
            ],
            "mixture": {
                "forward_translation": {"tag": "<FT_s>"},
                "fuzzy_match": {"tag": "<NFR_s>"},
                **further,
                transcripts["operator"]: {"tag": "<asr_s>"},
            },
        }
