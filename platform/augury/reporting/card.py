"""The model card of an exported run, as the Hugging Face hub reads it: use, scores, data,
method, cost, repetition."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import PurePath
from typing import NamedTuple

import yaml
from huggingface_hub import EvalResult, ModelCardData

from augury.augment.operator import Operator
from augury.core.progress import duration
from augury.core.store import Folder, Store
from augury.corpora import corpus as corpora
from augury.corpora import known
from augury.experiments.record import Cost, RunRecord
from augury.experiments.spec import parse
from augury.experiments.task import Exported
from augury.regimes.regime import Regime
from augury.reporting.numbers import MISSING, amount, epochs, factor
from augury.reporting.rendering import environment
from augury.reporting.results import best_validations
from augury.reporting.run_files import experiment
from augury.scoring import registry
from augury.scoring.registry import lower_is_better, title
from augury.scoring.stored import Score
from augury.training.trained import Outcome


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
    decoding = {
        key.removeprefix("decoding."): value
        for key, value in record.parameters.items()
        if key.startswith("decoding.")
    }
    settings = {
        "regime": system.regime.to_dict(),
        "augment": [operator.to_dict() for operator in system.augment],
    }
    best = best_validations(run).items()
    return (
        environment()
        .get_template("card.md.j2")
        .render(
            front=_front(name, record, origins, exported),
            name=name,
            record=record,
            exported=exported,
            best=", ".join(f"{title(of)} {value:.2f}" for of, value in best),
            decoded=", ".join(f"{key} {value}" for key, value in decoding.items()),
            origins=origins,
            notes=list(dict.fromkeys(origin.note for origin in origins.values() if origin.note)),
            parts={heading: _purpose(part) for heading, part in parts.items()},
            settings=yaml.safe_dump(settings, sort_keys=False, allow_unicode=True),
            papers=list(dict.fromkeys(papers)),
            cost=_cost(record.cost, record.training, _seen(record))
            if record.cost and record.training
            else {},
            file=file,
            title=title,
            interval=_interval,
            lower_is_better=lower_is_better,
        )
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


def _front(name: str, record: RunRecord, origins: Mapping[str, Origin], exported: Exported) -> str:
    """Return the metadata in YAML."""
    results = [
        EvalResult(
            task_type=exported.pipeline,
            dataset_type=origins[test].type or test,
            dataset_name=origins[test].name or test,
            dataset_split=test,
            metric_type=score.name.partition(":")[0],
            metric_value=round(score.value, 2),
            metric_name=title(score.name),
            metric_args={
                "signature": score.signature,
                "interval": _interval(score),
                "n": score.n,
            },
        )
        for test, scores in record.tests.items()
        for score in scores
    ]
    data = ModelCardData(
        language=list(dict.fromkeys(exported.languages)),
        library_name=exported.library,
        pipeline_tag=exported.pipeline,
        base_model=exported.base_model,
        tags=[exported.pipeline, "augury", *filter(None, [record.task])],
        metrics=list(dict.fromkeys(result.metric_type for result in results)) or None,
        model_name=name,
        eval_results=results or None,
    )
    return data.to_yaml()


def _interval(score: Score) -> str:
    return f"{score.low:.1f}, {score.high:.1f}"


def _seen(record: RunRecord) -> str:
    labels = registry.names("labels")
    scored = (score.name for scores in record.tests.values() for score in scores)
    return "examples seen" if any(name in labels for name in scored) else "tokens seen"


def _purpose(part: Regime | Operator) -> str:
    """Return the first paragraph of the docstring of a regime or an operator, in one line."""
    return " ".join((inspect.getdoc(type(part)) or "").partition("\n\n")[0].split())


def _cost(cost: Cost, training: Outcome, seen: str) -> dict[str, str]:
    """Return the cost in the columns of the tables of reports, and what these leave out; `seen`
    is what training has seen: tokens or, of a classifier, examples."""
    cpu = {} if cost.cpu_seconds is None else {"CPU time": duration(cost.cpu_seconds)}
    return {
        "data": factor(cost.data_factor),
        "parameters": amount(cost.parameters),
        "updates": f"{cost.updates:,.0f}",
        "epochs": epochs(cost.epochs),
        seen: amount(cost.target_tokens),
        **cpu,
        "time": duration(cost.train_seconds),
        "device hours": f"{cost.device_hours:.3g}",
        "device": cost.device,
        "trainings": f"{cost.trainings}",
        "weights": training.weights.kind,
    }
