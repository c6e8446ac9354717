"""Kambhatla, Born and Sarkar (2022): train a transformer on IWSLT14, IWSLT17, TED and WMT14 with
ROT-k enciphered sources (CipherDAug), and compare it with augmentations of words (WordDrop,
SwitchOut, RAML), with BPE-dropout and with data diversification.

toy: 1,000 pairs of two toy languages; small: the first 5,000 or 10,000 pairs of Multi30k; paper:
the paper's corpora and settings, for GPUs; released_code: IWSLT14 with the settings of the released
script, in the tables and figures that are not about sizes of embeddings and vocabularies.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from augury.core.config import merge
from augury.sweeping.declarations import Measure, Rows
from search_spaces.papers import from_yaml
from search_spaces.scales import RELEASED, TRANSLATION

if TYPE_CHECKING:
    import pandas as pd

    from augury.analysis.system import System
    from trainables.nmt.config import ModelSettings, TranslationExperiment

PAPER = from_yaml.load("cipherdaug")
# Sizes of embeddings and vocabularies are not those of the released code.
OF_SIZES: dict[str, dict[str, Any]] = {
    "toy": PAPER["scales"]["toy"],
    "small": TRANSLATION["small"],
    "small/multi30k-10k": {**TRANSLATION["small"], "corpus.train.first": 10_000},
    "paper": PAPER["scales"]["paper"],
}
SCALES = OF_SIZES | {RELEASED: PAPER["scales"][RELEASED]}
CORPORA: dict[str, dict[str, Any]] = PAPER["corpora"]

# Table 1: the vocabulary that is counted is that of the run of CipherDAug with two keys that other
# tables have too. Its printed row is that of the corpus.
TABLE_1 = {
    "paper": "IWSLT14 De→En",
    "paper/iwslt14-en-de": "IWSLT14 En→De",
    "paper/iwslt17-fr-en": "IWSLT17 Fr→En",
    "paper/iwslt17-en-fr": "IWSLT17 En→Fr",
    "paper/ted-en-sk": "TED En→Sk",
    "paper/wmt14-en-de": "WMT14 En→De",
}


def table1(scale: str) -> Rows:
    """Return the row of a scale's corpus."""
    two_keys = from_yaml.row(PAPER["parts"], ["2 keys", "agreement"], scale)
    return {TABLE_1.get(scale, scale): two_keys}


def subwords(system: System) -> Mapping[str, float]:
    """Return the number of subwords that occur in each training text, and of all (Table 1)."""
    from augury.regimes.regime import TARGET
    from augury.text.tokens import Tokens

    run = system.run
    source = system.counts() > 0
    target = np.zeros(len(source), bool)
    for ids in Tokens(run.stored_folder(run.tokens[TARGET])).shards():
        target[ids] = True
    return {
        "src": int(source.sum()),
        "tgt": int(target.sum()),
        "s∪t": int((source | target).sum()),
        **{f"{key}(src)": int((system.counts(f"rot-{key}") > 0).sum()) for key in (1, 2)},
        "total": len(system.pieces),
    }


def sizes(system: System) -> Mapping[str, float]:
    """Return the entries of a vocabulary and the trained parameters of a model (Tables 6, 7 and
    9)."""
    cost = system.record.cost
    assert cost is not None
    return {"|vocab|": len(system.pieces), "Train Θ": cost.parameters}


# Tables 8 and 10, Figures 3 to 8: measured on finished runs; `augury analyze` tests differences.


def hallucinated(system: System) -> Mapping[str, float]:
    """Return the number of sentences that a system hallucinates on when a frequent subword stands
    before them (Algorithm 2 of Raunak et al. 2021, with 50 subwords; Table 8)."""
    from augury.analysis.hallucinations import HallucinationAnalysis

    return {"Hallucinations": HallucinationAnalysis().compute([system])["lost"][0]}


def embeddings(system: System) -> Mapping[str, float]:
    """Return the numbers of one side's embeddings: those of the model, those that are trained,
    those of the formula (Table 10)."""
    from augury.training.trained import load_weights
    from trainables.nmt.embeddings import AloneEmbedding
    from trainables.nmt.model import build

    experiment = cast("TranslationExperiment", system.run.experiment)
    settings, count = experiment.transformer, len(system.pieces)
    model = load_weights(system.run.folder, build(settings, count, pad=0, eos=1, seed=0))
    side = model.model.encoder.embed_tokens
    filters = side.codebooks.numel() if isinstance(side, AloneEmbedding) else 0
    weights = list(side.parameters())
    return {
        "parameters and filters": sum(weight.numel() for weight in weights) + filters,
        "trained": sum(weight.numel() for weight in weights if weight.requires_grad),
        "formula": formula(settings, count),
    }


def formula(model: ModelSettings, entries: int) -> int:
    """Return the number of parameters by the formulas of Table 10; `entries` is the size of the
    vocabulary (V)."""
    from trainables.nmt.config import CODEBOOKS, CODES, Alone

    d_emb, alone = model.sizes.hidden_size, model.embeddings
    if not isinstance(alone, Alone):
        return (alone.size or d_emb) * entries
    d_o, d_inter = d_emb, alone.intermediate_size
    return d_o + d_inter * (d_o + d_emb) + CODEBOOKS * d_o * CODES


def rarest_of_sentences(system: System) -> Mapping[str, float]:
    """Return how often training has seen the rarest subword of a sentence, by view: the mean over
    test sentences (Figure 3)."""
    from augury.analysis.rare_subwords import RareSubwordAnalysis

    return by(RareSubwordAnalysis().compute([system]), "view")


def by_bucket(kind: str, system: System) -> Mapping[str, float]:
    """Return F-measure in per cent by how often training has seen a word (`frequency`, Figure 4 a),
    or BLEU of the sentences by the number of words of the reference (`length`, Figure 4 b)."""
    from augury.analysis.buckets import BucketAnalysis

    buckets = BucketAnalysis().compute([system])
    return by(buckets[buckets["kind"] == kind], "bucket")


def layers(*systems: System) -> Mapping[str, float]:
    """Return PWCCA of encoder states (Figure 5) and the correlation of random numbers of their
    shape.

    Of one system, of every pair of layers and views within it; of the baseline and a system, of
    those within the second, and of the baseline on plain and the second on any source.
    """
    from augury.analysis.correlation import CorrelationAnalysis

    result = CorrelationAnalysis().compute(systems)
    noise = result.iloc[-1]
    quantities = {"truncated mean of noise": noise["noise_truncated_mean"]}
    quantities["PWCCA of noise"] = noise["noise_pwcca"]
    for row in result[result["other_system"] == systems[-1].name].itertuples():
        of_rows = row.view if row.system == row.other_system else f"baseline {row.view}"
        pair = f"{of_rows} (rows) by {row.other_view} (columns)"
        quantities[f"{pair} | layer {row.layer} | layer {row.other_layer}"] = row.pwcca
    return quantities


def by_view(system: System) -> Mapping[str, float]:
    """Return the first metric of the experiment by the view that is translated (Figure 6)."""
    from augury.analysis.outputs import OutputAnalysis

    metric = system.run.experiment.scoring.metrics[0]
    return by(OutputAnalysis(metric=metric).compute([system]), "view")


def by(results: pd.DataFrame, name: str) -> Mapping[str, float]:
    """Return the values of results by a column of names."""
    return dict(zip(results[name], results["value"], strict=True))


def rarest_of(german: str, place: int) -> Measure:
    """Return the measure of how often training has seen the rarest subword of a German sentence,
    by view (Figures 7 and 8); the analysis `rare_subwords` shows the subwords of its `texts`.

    For another language, the sentence is the one of the test set at `place` in the order of how
    often training has seen the rarest plain subword, sentences with unseen ones last.
    """

    def measure(system: System) -> Mapping[str, float]:
        from augury.analysis.rare_subwords import pieces_by_view, rarest
        from augury.corpora.languages import base_language
        from augury.decoding.settings import PLAIN

        text, experiment = german, cast("TranslationExperiment", system.run.experiment)
        if base_language(experiment.corpus.languages[0]) != "de":
            counts = rarest(system.counts(PLAIN), system.ids(PLAIN))
            text = system.sources[np.lexsort((counts, counts == 0))[place]]
        pieces = pieces_by_view(system, text)
        return {view: min(piece.count for piece in pieces[view]) for view in pieces}

    return measure


DEV = {"corpus.tests": {"dev": {"validation": True}}}  # Table 2 is of the development set
TABLES = from_yaml.tables(
    "cipherdaug",
    PAPER | {"scales": SCALES},
    table1={
        "scales": OF_SIZES | CORPORA | {"paper/ted-en-sk": PAPER["ted"]["paper/ted-en-sk"]},
        "rows": table1,
        "measure": subwords,
    },
    table2={"scales": SCALES | {name: merge(SCALES[name], DEV) for name in ("paper", RELEASED)}},
    table3={"scales": SCALES | CORPORA},
    table5={"scales": OF_SIZES | PAPER["ted"]},
    table6={"scales": OF_SIZES, "measure": sizes},
    table7={"scales": OF_SIZES, "measure": sizes},
    table8={"measure": hallucinated},
    table9={"scales": OF_SIZES, "measure": sizes},
    table10={"scales": OF_SIZES, "measure": embeddings},
    figure3={"measure": rarest_of_sentences},
    figure4={"measure": partial(by_bucket, "frequency")},
    figure4b={"measure": partial(by_bucket, "length")},
    figure5={"measure": layers},
    figure6={"measure": by_view},
    figure7={"measure": rarest_of("hey, warum nicht?", 0)},
    figure8={"measure": rarest_of("wir alle lieben baseball, oder?", 1)},
)
