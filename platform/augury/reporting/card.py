"""The model card of an exported run, as the Hugging Face hub reads it: use, scores, data,
method, cost, repetition."""

from __future__ import annotations

import inspect
from pathlib import PurePath
from typing import NamedTuple

import yaml
from huggingface_hub import EvalResult, ModelCardData

from augury.augment.operator import Operator
from augury.core.progress import duration
from augury.core.store import Folder, Store
from augury.corpora import corpus as corpora
from augury.corpora import known
from augury.experiments.record import RunRecord
from augury.experiments.spec import parse
from augury.experiments.task import Exported
from augury.regimes.regime import Regime
from augury.reporting.notes import counted_unit
from augury.reporting.numbers import MISSING, amount, factor
from augury.reporting.rendering import environment
from augury.reporting.results import best_validations
from augury.reporting.run_files import experiment
from augury.reporting.tables import markdown, records
from augury.scoring.registry import lower_is_better, title


class Origin(NamedTuple):
    """The source of a text."""

    type: str | None
    """Its public identifier."""
    name: str | None
    """Its name for people."""
    markdown: str
    """Its name in Markdown, with its licence.

    For files their names and the beginnings of their checksums.
    """
    note: str | None
    """A caution, such as that it is synthetic."""


def render(run: Folder, store: Store, exported: Exported, file: str) -> str:
    """Return the card of a finished run; `file` is the name of its experiment file, in the same
    directory."""
    record = RunRecord.read(run)
    origins = {text.role: _origin(store, text.address) for text in record.inputs}
    system = parse(experiment(run, [record.seed]))
    parts: dict[str, Regime | Operator] = {f"regime `{system.regime.name}`": system.regime}
    parts |= {f"operator `{operator.operator}`": operator for operator in system.augment}
    papers = [
        paper
        for part in parts.values()
        for paper in (part.PAPERS if isinstance(part, Operator) else part.papers())
    ]
    name = " ".join(dict.fromkeys(filter(None, [record.experiment, record.name])))
    settings = {
        "regime": system.regime.to_dict(),
        "augment": [operator.to_dict() for operator in system.augment],
    }
    scores, results = [], []
    for test, of_test in record.tests.items():
        for score in of_test:
            ends = f"{score.low:.1f}, {score.high:.1f}"
            direction = " (lower is better)" if lower_is_better(score.name) else ""
            scores.append(
                {
                    "test set": test,
                    "metric": f"{title(score.name)}{direction}",
                    "score [95 % interval]": f"{score.value:.1f} [{ends}]",
                    "n": f"{score.n:,}",
                    "signature": f"`{score.signature}`",
                }
            )
            results.append(
                EvalResult(
                    task_type=exported.pipeline,
                    dataset_type=origins[test].type or test,
                    dataset_name=origins[test].name or test,
                    dataset_split=test,
                    metric_type=score.name.partition(":")[0],
                    metric_value=round(score.value, 2),
                    metric_name=title(score.name),
                    metric_args={"signature": score.signature, "interval": ends, "n": score.n},
                )
            )
    front = ModelCardData(
        language=list(dict.fromkeys(exported.languages)),
        library_name=exported.library,
        pipeline_tag=exported.pipeline,
        base_model=exported.base_model,
        tags=[exported.pipeline, "augury", *filter(None, [record.task])],
        metrics=list(dict.fromkeys(result.metric_type for result in results)) or None,
        model_name=name,
        eval_results=results or None,
    )
    data = [
        {
            "text": text.role,
            "from": origins[text.role].markdown,
            "rows": f"{text.rows:,}",
            "address": f"`{text.address}`",
        }
        for text in record.inputs
    ]
    costs = []
    if (cost := record.cost) and record.training:
        seen = counted_unit(next((row.name for of in record.tests.values() for row in of), ""))
        row = {
            "data": factor(cost.data_factor),
            "parameters": amount(cost.parameters),
            "updates": f"{cost.updates:,.0f}",
            f"{seen} seen": amount(cost.target_tokens),
            "CPU time": MISSING if cost.cpu_seconds is None else duration(cost.cpu_seconds),
            "time": duration(cost.train_seconds),
            "device": cost.device,
            "weights": record.training.weights.kind,
        }
        costs.append(row)
    decoding = [
        f"{key.removeprefix('decoding.')} {value}"
        for key, value in record.parameters.items()
        if key.startswith("decoding.")
    ]
    best = [f"{title(of)} {value:.2f}" for of, value in best_validations(run).items()]
    template = environment().get_template("card.md.j2")
    return template.render(
        front=front.to_yaml(),
        name=name,
        record=record,
        exported=exported,
        best=", ".join(best),
        decoded=", ".join(decoding),
        scores=markdown([records(scores)]) if scores else "",
        data=markdown([records(data)]) if data else "",
        cost=markdown([records(costs)]) if costs else "",
        notes=list(dict.fromkeys(origin.note for origin in origins.values() if origin.note)),
        parts={heading: _purpose(part) for heading, part in parts.items()},
        settings=yaml.safe_dump(settings, sort_keys=False, allow_unicode=True),
        papers=list(dict.fromkeys(papers)),
        file=file,
    )


def _origin(store: Store, address: str) -> Origin:
    corpus = Folder(store.root, f"{corpora.KIND}/{address}")
    manifest = corpus.manifest() if corpus.complete else {}
    note, text = manifest.get("note"), manifest.get("spec", {}).get("text", {})
    if public := {**known.KNOWN, **known.KNOWN_NLI}.get(manifest.get("known") or ""):
        link = f"[{public.title}]({public.homepage}), licence: {public.licence}"
        return Origin(public.name, public.title, link, note)
    if text.get("hub"):
        return Origin(text["hub"], text["hub"], f"`{text['hub']}`", note)
    files = [
        f"`{PurePath(file['path']).name}` ({file['sha256'][:12]})"
        for file in manifest.get("files") or ()
    ]
    names = ", ".join(files) or ("the built-in synthetic text" if text.get("builtin") else MISSING)
    return Origin(None, None, names, note)


def _purpose(part: Regime | Operator) -> str:
    """Return the first paragraph of the docstring of a regime or an operator, in one line."""
    return " ".join((inspect.getdoc(type(part)) or "").partition("\n\n")[0].split())
