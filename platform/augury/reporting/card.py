"""The model card of an exported run, as the Hugging Face hub reads it: use, scores, data, method, cost, repetition."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import yaml
from huggingface_hub import EvalResult, ModelCardData

from augury.augment.operator import Operator
from augury.core.progress import duration
from augury.core.store import Folder, Store
from augury.corpora import known, known_nli
from augury.corpora.corpus import KIND as CORPORA
from augury.experiments import runs
from augury.experiments.experiment import Experiment, parse
from augury.experiments.trainable import Exported
from augury.regimes.regime import Regime
from augury.reporting.results import best_validations
from augury.reporting.table import MISSING, amount, factor
from augury.scoring.metrics import lower_is_better, title

PRIVATE = ("storage", "tracking")
"""Sections of an experiment file that say where things lie on a machine, and nothing of the model."""

Scores = Mapping[str, Sequence[Mapping[str, Any]]]
"""Test set -> scores as `scores.json` has them."""


def experiment(run: Folder) -> dict[str, Any]:
    """Return the experiment file that trains this seed of this system again."""
    content = {key: value for key, value in yaml.safe_load(run.read("experiment.yaml")).items() if key not in PRIVATE}
    content["execution"] = {**content["execution"], "address": None}
    return {**content, "seeds": [run.read_json(runs.DESCRIPTION)["seed"]], "baseline": False, "systems": {}}


def render(run: Folder, store: Store, exported: Exported, file: str) -> str:
    """Return the card of a finished run; `file` is the name of its experiment file, which lies beside it."""
    facts = run.read_json(runs.DESCRIPTION)
    scored = run.read_json(runs.SCORES) if run.exists(runs.SCORES) else {"tests": {}, "cost": {}}
    origins = {text["name"]: _origin(store, text["address"]) for text in facts["inputs"]}
    name = " ".join(dict.fromkeys([facts["experiment"], facts["name"]]))
    sections = {
        "Use": _use(exported),
        "Scores": _scores(run, facts, scored["tests"]),
        "Data": _data(facts, origins),
        "Method": _method(parse(experiment(run))),
        "Cost": _cost(scored["cost"]),
        "Repeat it": _repetition(facts, file),
    }
    languages = " to ".join(f"`{language}`" for language in exported.languages)
    said = f"A model for {exported.pipeline}, {languages}: seed {facts['seed']} of Augury's run `{facts['address']}`."
    front = _front(name, facts["task"], scored["tests"], origins, exported)
    body = "".join(f"\n## {heading}\n\n{text}\n" for heading, text in sections.items() if text)
    return f"---\n{front}\n---\n\n# {name}\n\n{said}\n{body}"


class Origin(NamedTuple):
    """Where a text comes from."""

    type: str | None
    """A public name of it."""
    name: str | None
    """The same for people."""
    said: str
    """The same in Markdown, with its licence; of files their names and the beginnings of their checksums."""
    note: str | None
    """What must be known of it, such as that it is synthetic."""


def _origin(store: Store, address: str) -> Origin:
    corpus = Folder(store.root, f"{CORPORA}/{address}")
    manifest = corpus.manifest() if corpus.complete else {}
    note, text = manifest.get("note"), manifest.get("spec", {}).get("text", {})
    if public := {**known.KNOWN, **known_nli.KNOWN}.get(manifest.get("known") or ""):
        said = f"[{public.title}]({public.homepage}), licence: {public.licence}"
        return Origin(public.name, public.title, said, note)
    if text.get("hub"):
        return Origin(text["hub"], text["hub"], f"`{text['hub']}`", note)
    files = [f"`{PurePath(file['path']).name}` ({file['sha256'][:12]})" for file in manifest.get("files") or ()]
    said = ", ".join(files) or ("the built-in synthetic text" if text.get("builtin") else MISSING)
    return Origin(None, None, said, note)


def _front(name: str, task: str, tests: Scores, origins: Mapping[str, Origin], exported: Exported) -> str:
    """The metadata in YAML."""
    results = [
        EvalResult(
            task_type=exported.pipeline,
            dataset_type=origins[test].type or test,
            dataset_name=origins[test].name or test,
            dataset_split=test,
            metric_type=score["name"].partition(":")[0],
            metric_value=round(score["value"], 2),
            metric_name=title(score["name"]),
            metric_args={"signature": score["signature"], "interval": _interval(score), "n": score["n"]},
        )
        for test, scores in tests.items()
        for score in scores
    ]
    data = ModelCardData(
        language=list(dict.fromkeys(exported.languages)),
        library_name=exported.library,
        pipeline_tag=exported.pipeline,
        base_model=exported.base_model,
        tags=[exported.pipeline, "augury", task],
        metrics=list(dict.fromkeys(result.metric_type for result in results)) or None,
        model_name=name,
        eval_results=results or None,
    )
    return data.to_yaml()


def _use(exported: Exported) -> str:
    notes = "".join(f"\n- {note}" for note in exported.notes)
    return f"```python\n{exported.usage}```\n{notes}".rstrip()


def _scores(run: Folder, facts: Mapping[str, Any], tests: Scores) -> str:
    if not tests:
        best = ", ".join(f"{title(name)} {value:.2f}" for name, value in best_validations(run).items())
        return f"No test set was scored. Best of the validations while training: {best}."
    rows = [
        [
            test,
            title(score["name"]) + (" (lower is better)" if lower_is_better(score["name"]) else ""),
            f"{score['value']:.1f} [{_interval(score)}]",
            f"{score['n']:,}",
            f"`{score['signature']}`",
        ]
        for test, scores in tests.items()
        for score in scores
    ]
    table = _table(["test set", "metric", "score [95 % interval]", "n", "signature"], rows)
    search = {key.partition(".")[2]: value for key, value in facts["parameters"].items() if key.startswith("decoding.")}
    decoded = f" Decoded with {', '.join(f'{key} {value}' for key, value in search.items())}." if search else ""
    return f"{table}\n\nIntervals: bootstrap over sentences; they say nothing of other seeds.{decoded}"


def _interval(score: Mapping[str, Any]) -> str:
    return f"{score['low']:.1f}, {score['high']:.1f}"


def _data(facts: Mapping[str, Any], origins: Mapping[str, Origin]) -> str:
    rows = [
        [text["name"], origins[text["name"]].said, f"{text['rows']:,}", f"`{text['address']}`"]
        for text in facts["inputs"]
    ]
    notes = dict.fromkeys(origin.note for origin in origins.values() if origin.note)
    listed = "".join(f"\n- {note}" for note in notes)
    return f"{_table(['text', 'from', 'rows', 'address'], rows)}\n{listed}".rstrip()


def _method(system: Experiment) -> str:
    """The regime, the operators, all of their settings and the papers that they come from."""
    parts: list[Regime | Operator] = [system.regime, *system.augment]
    names = [f"regime `{system.regime.name}`", *(f"operator `{operator.operator}`" for operator in system.augment)]
    lines = "".join(f"- {name}: {_purpose(part)}\n" for name, part in zip(names, parts, strict=True))
    settings = {"regime": system.regime.plain(), "augment": [operator.plain() for operator in system.augment]}
    written = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)
    papers = dict.fromkeys(paper for part in parts for paper in part.papers())
    cited = "\nPapers:\n\n" + "".join(f"- {paper}\n" for paper in papers) if papers else ""
    return f"{lines}\n```yaml\n{written}```\n{cited}".rstrip()


def _purpose(part: Regime | Operator) -> str:
    """The first paragraph of what is said of a regime or an operator, in one line."""
    return " ".join((inspect.getdoc(type(part)) or "").partition("\n\n")[0].split())


def _cost(cost: Mapping[str, Any]) -> str:
    if not cost:
        return ""
    passes = f"{cost['passes']:.1f}" if "passes" in cost else MISSING
    row = {
        "parameters": amount(cost["parameters"]),
        "data": factor(cost["data_factor"]),
        "updates": f"{cost['updates']:,}",
        "passes": passes,
        "tokens seen": amount(cost["target_tokens"]),
        "training": duration(cost["train_seconds"]),
        "device hours": f"{cost['device_hours']:.3g}",
        "device": cost["device"],
        "weights": cost.get("weights", {}).get("kind", MISSING),
    }
    return _table(list(row), [list(row.values())])


def _repetition(facts: Mapping[str, Any], file: str) -> str:
    versions = ", ".join(f"{package} {version}" for package, version in facts["versions"].items())
    commit = f", commit `{facts['commit']}`" if facts["commit"] else ""
    return (
        f"```\naugury train {file}\n```\n\n[{file}]({file}) lies beside this card; the paths of texts in it are those "
        f"of the machine that trained the model. Made with {versions}{commit}."
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
