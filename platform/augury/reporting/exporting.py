"""Export a trained run: the model for another library, with its card, an example and its
experiment file."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from pathlib import Path, PurePath

import yaml

from augury.core.directories import reset_permissions
from augury.core.errors import UserError
from augury.core.store import Folder
from augury.corpora import corpus as corpora
from augury.corpora import known
from augury.experiments.record import EXPERIMENT, Input, RunRecord
from augury.experiments.run import Run
from augury.experiments.stored_runs import corpus_notes
from augury.experiments.task import Exported, Exports, capable
from augury.models.pretrained import hub_name
from augury.reporting.numbers import interval, number
from augury.reporting.rendering import environment
from augury.reporting.results import best_text, best_validations
from augury.reporting.run_files import experiment_yaml
from augury.reporting.tables import markdown, records
from augury.scoring.registry import lower_is_better, record_name, title

README, EXAMPLE = "README.md", "example.py"


def usual_name(run: Folder, form: str) -> str:
    """Return the default name of the directory of an exported model: `CipherDAug-seed-1-hf`."""
    record = RunRecord.read(run)
    return re.sub(r"[^\w.-]+", "-", f"{record.name}-seed-{record.seed}-{form}")


def export(run: Folder, form: str, output: Path) -> None:
    """Write a run's model for another library into a new directory, which appears when it is
    complete.

    UserError where the directory exists or cannot be made, where the task has no such form and
    where training has not ended.
    """
    if output.exists():
        raise UserError(f"'{output}' exists already: give another --output, or remove it")
    trained = Run.read(run)
    directory = output.with_name(f".tmp-{output.name}-{uuid.uuid4().hex[:8]}")
    try:
        directory.mkdir(parents=True)
    except OSError as error:
        reason = f"'{output}' cannot be made ({error.strerror}): give another --output"
        raise UserError(reason) from error
    try:
        exported = capable(trained.experiment.task, Exports).export(trained, form, directory)
        if model := trained.experiment.pretrained:
            exported = exported._replace(base_model=hub_name(model.name))
        experiment = experiment_yaml(run, [trained.seed])
        (directory / EXPERIMENT).write_text(experiment, encoding="utf-8")
        (directory / EXAMPLE).write_text(exported.usage, encoding="utf-8")
        (directory / README).write_text(card(run, exported), encoding="utf-8")
        reset_permissions(directory)
        os.replace(directory, output)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def card(run: Folder, exported: Exported) -> str:
    """Return the model card of an exported run, as the Hugging Face hub reads it."""
    record = RunRecord.read(run)
    measured = [(test, score) for test, of_test in record.tests.items() for score in of_test]
    rows = [
        {
            "test set": test,
            "metric": f"{title(score.name)}{' (lower is better)' * lower_is_better(score.name)}",
            "score [95 % interval]": interval(score.value, score.low, score.high),
            "n": number(score.n, "count"),
            "signature": f"`{score.signature}`",
        }
        for test, score in measured
    ]
    metrics = dict.fromkeys(record_name(score.name).partition(":")[0] for _, score in measured)
    front = {
        "language": list(dict.fromkeys(exported.languages)),
        "library_name": exported.library,
        "pipeline_tag": exported.pipeline,
        "base_model": exported.base_model,
        "tags": [exported.pipeline, "augury", *filter(None, [record.task])],
        "metrics": list(metrics),
    }
    spent = ""
    if cost := record.cost:
        spent = f"{number(cost.parameters, 'count')} parameters, {number(cost.updates, 'count')} "
        spent += f"updates, {number(cost.train_seconds, 'time')} of training on {cost.device}"
    stated = {key: value for key, value in front.items() if value}
    template = environment().get_template("card.md.j2")
    return template.render(
        front=yaml.safe_dump(stated, sort_keys=False),
        name=" ".join(dict.fromkeys(filter(None, [record.experiment, record.name]))),
        record=record,
        exported=exported,
        best=best_text(best_validations(run)),
        scores=markdown(records(rows)) if rows else "",
        data={text.name: _origin(run.root, text) for text in record.inputs},
        notes=corpus_notes(run, record.inputs),
        cost=spent,
        file=EXPERIMENT,
    )


def _origin(storage: str, text: Input) -> str:
    """Return in Markdown where a text is from: a known corpus with its licence, or its files with
    the beginnings of their checksums."""
    corpus = Folder(storage, f"{corpora.CORPORA}/{text.address}")
    manifest = corpus.manifest() if corpus.complete else {}
    if public := {**known.KNOWN, **known.KNOWN_NLI}.get(manifest.get("known") or ""):
        return f"[{public.title}]({public.homepage}), licence: {public.licence}"
    spec = manifest.get("spec", {}).get("text", {})
    files = [
        f"`{PurePath(file['path']).name}` ({file['sha256'][:12]})"
        for file in manifest.get("files") or ()
    ]
    return ", ".join(files) or spec.get("hub") or "no files"
