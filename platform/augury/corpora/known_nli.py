"""Known public NLI corpora."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from augury.core.errors import nearest
from augury.corpora.known import KnownSet

XNLI_LANGUAGES = (
    "ar",
    "bg",
    "de",
    "el",
    "en",
    "es",
    "fr",
    "hi",
    "ru",
    "sw",
    "th",
    "tr",
    "ur",
    "vi",
    "zh",
)


@dataclass(frozen=True, kw_only=True)
class NliSet(KnownSet):
    """A public NLI corpus."""

    languages: tuple[str, ...]
    """Languages of the texts without a `language` setting."""

    def check(self, split: str, language: str) -> None:
        """Raise ValueError if the set does not have this split in a language."""
        if "language" not in self.texts[split] and language not in self.languages:
            raise ValueError(
                f"{self.name} has no {split} in '{language}': {nearest(language, self.languages)}"
            )


def _pairs(file: str, **settings: Any) -> dict[str, Any]:
    """Return the settings of a text of XNLI, MultiNLI or SNLI with the published column names."""
    columns = {
        "premise_column": "sentence1",
        "hypothesis_column": "sentence2",
        "label_column": "gold_label",
    }
    return {"file": file, **columns, **settings}


def _english(texts: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the texts with English as the language of test sets."""
    return {
        name: text if name in ("train", "valid") else {**text, "language": "en"}
        for name, text in texts.items()
    }


def _from_jsonl(repository: str, commit: str, files: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return commands that convert JSON lines of a repository to tables (premise, hypothesis,
    label)."""
    name = repository.rpartition("/")[2]
    row = '[.premise, .hypothesis, .label] | map(gsub("\\\\s+"; " ")) | join("\\t")'
    return (
        f"git clone https://github.com/{repository} && git -C {name} checkout {commit}",
        *(
            f"(printf 'premise\\thypothesis\\tlabel\\n'; jq -r '{row}' {name}/{pattern}) > {file}"
            for file, pattern in files
        ),
    )


# Program that unquotes a table and replaces label numbers by names.
_NAMED = (
    "import csv, sys; rows = list(csv.reader(sys.stdin, delimiter='\\t')); "
    "names = ['entailment', 'neutral', 'contradiction']; "
    "rows = [rows[0], *([*pair, names[int(label)]] for *pair, label in rows[1:])]; "
    "print(*('\\t'.join(row) for row in rows), sep='\\n')"
)
_XNLI = "curl -L -O https://dl.fbaipublicfiles.com/XNLI/XNLI-1.0.zip && unzip XNLI-1.0.zip"
_XNLI_LICENCE = "CC BY-NC 4.0"
_XNLI_HOMEPAGE = "https://github.com/facebookresearch/XNLI"

_SETS = (
    NliSet(
        name="xnli",
        title="XNLI 1.0, development and test set in 15 languages (Conneau et al. 2018)",
        homepage=_XNLI_HOMEPAGE,
        licence=_XNLI_LICENCE,
        fetch=(_XNLI,),
        languages=XNLI_LANGUAGES,
        texts={
            "valid": _pairs("xnli.dev.tsv", where={"language": "{language}"}),
            **{
                code: _pairs("xnli.test.tsv", where={"language": code}, language=code)
                for code in XNLI_LANGUAGES
            },
        },
    ),
    NliSet(
        name="xnli_dev",
        title="XNLI 1.0, development set in 15 languages, as tests (Conneau et al. 2018)",
        homepage=_XNLI_HOMEPAGE,
        licence=_XNLI_LICENCE,
        fetch=(
            _XNLI,
            f"for l in {' '.join(XNLI_LANGUAGES)}; do awk -F'\\t' -v OFS='\\t' -v l=$l "
            '\'NR == 1 {print "premise", "hypothesis", "label"} $1 == l {print $7, $8, $2}\' '
            "XNLI-1.0/xnli.dev.tsv > dev.$l.tsv; done",
        ),
        folder="xnli",
        languages=XNLI_LANGUAGES,
        texts={code: {"file": f"dev.{code}.tsv", "language": code} for code in XNLI_LANGUAGES},
    ),
    NliSet(
        name="xnli_mt",
        title="XNLI-MT 1.0, MultiNLI machine-translated into 15 languages (Conneau et al. 2018)",
        homepage=_XNLI_HOMEPAGE,
        licence=_XNLI_LICENCE,
        fetch=(
            "curl -L -O https://dl.fbaipublicfiles.com/XNLI/XNLI-MT-1.0.zip && unzip "
            "XNLI-MT-1.0.zip",
        ),
        folder="xnli",
        languages=XNLI_LANGUAGES,
        texts={"train": {"file": "multinli.train.{language}.tsv", "hypothesis_column": "hypo"}},
    ),
    NliSet(
        name="multi_nli",
        title="MultiNLI 1.0; valid is the matched, the test the mismatched development set "
        "(Williams et al. 2018)",
        homepage="https://cims.nyu.edu/~sbowman/multinli/",
        licence="OANC; some of its fiction CC BY 3.0 or CC BY-SA 3.0",
        fetch=(
            "curl -L -O https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip && unzip "
            "multinli_1.0.zip",
        ),
        languages=("en",),
        texts=_english(
            {
                "train": _pairs("multinli_1.0_train.jsonl"),
                "valid": _pairs("multinli_1.0_dev_matched.jsonl"),
                "mismatched": _pairs("multinli_1.0_dev_mismatched.jsonl"),
            }
        ),
    ),
    NliSet(
        name="snli",
        title="SNLI 1.0 (Bowman et al. 2015)",
        homepage="https://nlp.stanford.edu/projects/snli/",
        licence="CC BY-SA 4.0",
        fetch=(
            "curl -L -O https://nlp.stanford.edu/projects/snli/snli_1.0.zip && unzip snli_1.0.zip",
        ),
        languages=("en",),
        texts=_english(
            {
                "train": _pairs("snli_1.0_train.jsonl"),
                "valid": _pairs("snli_1.0_dev.jsonl"),
                "snli": _pairs("snli_1.0_test.jsonl"),
            }
        ),
    ),
    NliSet(
        name="snli_validation",
        title="SNLI 1.0, validation set, as a test (Bowman et al. 2015)",
        homepage="https://github.com/MJ-Jang/BECEL",
        licence="CC BY-SA 4.0",
        fetch=(
            "curl -L https://raw.githubusercontent.com/MJ-Jang/BECEL/f5bdd1196e/data/snli/validation.tsv | "
            f'python3 -c "{_NAMED}" > snli.validation.tsv',
        ),
        folder="nli_en",
        languages=("en",),
        texts=_english({"snli": {"file": "snli.validation.tsv"}}),
    ),
    NliSet(
        name="ling_in_loop",
        title="Linguist in the Loop, new hypotheses for premises of MultiNLI (Parrish et al. 2021)",
        homepage="https://github.com/Alicia-Parrish/ling_in_loop",
        licence="not stated; premises are MultiNLI's",
        fetch=_from_jsonl(
            "Alicia-Parrish/ling_in_loop",
            "9def304e19",
            (
                ("ling_in_loop.train.tsv", "NLI_data/*/train_round[1-5]_*.jsonl"),
                ("ling_in_loop.val.tsv", "NLI_data/*/val_round[1-5]_*.jsonl"),
            ),
        ),
        folder="nli_en",
        languages=("en",),
        texts={
            "train": {"file": "ling_in_loop.train.tsv"},
            "valid": {"file": "ling_in_loop.val.tsv"},
        },
        filter={"unescape": True},
    ),
    NliSet(
        name="cad_snli",
        title="Counterfactually augmented SNLI, both sentences revised (Kaushik et al. 2020)",
        homepage="https://github.com/acmi-lab/counterfactually-augmented-data",
        licence="Apache-2.0 (repository)",
        fetch=tuple(
            "curl -L https://raw.githubusercontent.com/acmi-lab/counterfactually-augmented-data/6f232a1d2a/NLI/"
            f"all_combined/{name}.tsv | sed '1s/.*/premise\\thypothesis\\tlabel/' > "
            f"cad_snli.{name}.tsv"
            for name in ("train", "dev", "test")
        ),
        folder="nli_en",
        languages=("en",),
        texts=_english(
            {
                "train": {"file": "cad_snli.train.tsv"},
                "valid": {"file": "cad_snli.dev.tsv"},
                "cad_snli": {"file": "cad_snli.test.tsv"},
            }
        ),
    ),
    NliSet(
        name="semiauto_wiki",
        title="Semi-automatic NLI, the parts on Wikipedia sentences (Chen et al. 2021)",
        homepage="https://github.com/nyu-mll/semi-automatic-nli",
        licence="premises CC BY-SA 3.0 (Wikipedia)",
        fetch=_from_jsonl(
            "nyu-mll/semi-automatic-nli",
            "853c480133",
            (
                (f"semiauto_wiki.{name}.tsv", f"data/{{base,sim,translate}}_wiki/{name}.jsonl")
                for name in ("train", "test")
            ),
        ),
        folder="nli_en",
        languages=("en",),
        texts=_english(
            {
                "train": {"file": "semiauto_wiki.train.tsv"},
                "semiauto_wiki": {"file": "semiauto_wiki.test.tsv"},
            }
        ),
    ),
)
KNOWN = {known.name: known for known in _SETS}
