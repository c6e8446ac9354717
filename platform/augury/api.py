"""The Python interface for notebooks: the main commands as functions that return pandas objects.

import augury
augury.sweep("augmentations", "my.yaml", budget="2h")
augury.run("my.yaml")
augury.results("results")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from augury.core.errors import UserError
from augury.core.plugin_files import named_by_user

if TYPE_CHECKING:
    import pandas as pd

    from augury.augment.on_frames import FrameOperator
    from augury.sweeping.declarations import SchedulerName


def run(
    experiment: str | Path | Mapping[str, Any], *, set: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Run an experiment, given as a file or its content, and return the results of its runs as
    `results` does.

    `set` has settings by dotted key, in place of the experiment's. Existing runs are reused. The
    `attrs` of the frame have the `answer` in words, and `warnings`, which may change a decision.
    Raises UserError for invalid settings and if runs have failed.

        frame = augury.run("my.yaml", set={"seeds": [1, 2, 3]})
        frame.pivot_table("value", "system", ["test", "metric"])
    """
    from augury.core import config
    from augury.experiments.spec import parse
    from augury.experiments.systems import expand, load
    from augury.reporting import frames
    from augury.reporting.comparison import compare_all, scored_sets
    from augury.reporting.results import load_experiment
    from augury.sweeping.driver import run_experiment
    from augury.tracking.tracker import Tracker

    if isinstance(experiment, Mapping):
        with named_by_user():
            parsed = parse(config.merge(experiment, set or {}))
    else:
        parsed = load(str(experiment), set)
    trained = run_experiment(parsed, Tracker)
    if trained.failures:
        raise UserError("; ".join(trained.failures))
    frame = results(parsed.storage)
    names = {folder.uri: name for name, seeds in trained.runs.items() for folder in seeds.values()}
    frame = frame[frame["run"].isin(names)].reset_index(drop=True)
    frame = frame.assign(system=frame["run"].map(names), experiment=parsed.name)
    systems = load_experiment(trained.runs, expand(parsed))
    frame.attrs = frames.said(compare_all(systems, scored_sets(systems)), systems)
    return frame


def sweep(
    space: str | Path,
    experiment: str | Path | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    budget: str | None = None,
    rows: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    storage: str | Path | None = None,
    name: str | None = None,
    scale: str | None = None,
    scheduler: SchedulerName | None = None,
    confirm: int | None = None,
) -> pd.DataFrame:
    """Train and compare the configurations of a search space on an experiment file, or on the
    space's own experiment, and return a row for each of them, best first.

    The arguments are the flags of `augury sweep`, with their defaults; `set` has settings by dotted
    key. The same call continues a sweep that its budget (`90s`, `30m`, `2h` or `1d`) ended.
    Columns: name, seeds, score with interval, difference to the reference with interval and
    corrected p, cost of a seed, state, recommended; `attrs` of the frame has the `answer` in words
    and the address of the `page`. Raises UserError for invalid arguments and for what cannot be
    trained.

        frame = augury.sweep("augmentations", "my.yaml", budget="2h")
        frame.attrs["answer"]
    """
    from augury.reporting import frames
    from augury.reporting.sweeps.progress import run_sweep
    from augury.sweeping import request
    from augury.tracking.tracker import Tracker

    asked, options = request.prepare(
        str(space),
        experiment,
        settings=set or {},
        scale=scale,
        scheduler=scheduler,
        rows=rows,
        confirm=confirm,
        seeds=seeds,
        storage=str(storage) if storage else None,
        name=name,
        budget=budget,
    )
    outcome, _ = run_sweep(asked, options, Tracker)
    return frames.sweep(outcome.sweep)


class Recommendation(NamedTuple):
    """The system that a sweep recommends."""

    experiment: dict[str, Any]
    """Its experiment, as `recommended.yaml` has it, with the storage of the sweep, where
    `augury.run(experiment)` finds what is trained."""
    answer: str
    """The answer of the sweep, in a sentence."""
    file: str
    """The address of `recommended.yaml`."""


def recommend(sweep: str, storage: str | Path = "results") -> Recommendation:
    """Return the experiment that a sweep recommends, with the answer of the sweep.

    `sweep` is the name of a sweep, or of a space with a single sweep in the storage. Raises
    UserError where there is none, and where nothing leads yet.

        augury.recommend("augmentations").answer
    """
    import yaml

    from augury.core.store import Store
    from augury.reporting.answer import sweep_answer
    from augury.reporting.sweeps.recommended import RECOMMENDED
    from augury.reporting.sweeps.recommended import recommend as write
    from augury.reporting.sweeps.summary import summarise
    from augury.sweeping import state

    loaded = state.load(Store(storage), sweep)
    summary = summarise(loaded)
    said, file = sweep_answer(summary), write(summary)
    if file is None:
        raise UserError(f"sweep '{loaded.name}' recommends nothing yet: {said}")
    experiment = yaml.safe_load(loaded.folder.read(RECOMMENDED))
    return Recommendation({**experiment, "storage": loaded.folder.root}, said, file)


def results(storage: str | Path = "results") -> pd.DataFrame:
    """Return a row for every scored run, test set and metric in a storage, with interval and cost.

    frame = augury.results("results")
    """
    from augury.reporting import frames

    return frames.results(storage)


def compare(
    baseline: str | Path, system: str | Path, *, storage: str | Path = "results"
) -> pd.DataFrame:
    """Return the differences between two runs or configurations, given by name or folder,
    with intervals and p-values; `attrs` of the frame as those of `run`.

    augury.compare("my/baseline", "my/CipherDAug")
    """
    from augury.reporting import frames

    return frames.compare(baseline, system, str(storage))


def apply(
    frame: pd.DataFrame, operator: str, *, language: str | None = None, **parameters: Any
) -> pd.DataFrame:
    """Apply an operator, given by name or path, to sentences; return only the new rows.

    `frame` has the columns that the operator reads: source and target, premise and hypothesis (and
    label), or text. `language` is a code for operators that depend on it, unless the frame has
    columns of languages. New rows have the same columns, `origin` (name of the view or operator)
    and `parent` (index of the original row). Raises UserError for invalid parameters or columns,
    and for operators that need trained models (use `augury augment FILE`) or work on token ids.

        copies = augury.apply(frame, "eda", copies=2, language="en")
        larger = pd.concat([frame, copies])
    """
    import pandas as pd

    from augury.augment.on_frames import FrameOperator

    if not isinstance(frame, pd.DataFrame):
        raise UserError(
            f"apply takes a DataFrame, not a {type(frame).__name__}: give one with columns of texts"
        )
    return FrameOperator.of(operator, language, parameters).fit(frame).rows(frame)


def operator(name: str, *, language: str | None = None, **settings: Any) -> FrameOperator:
    """Return an operator, given by name or path, for batches of your own `ray.data.Dataset`.

    It learns from the training split by `fit`: a data frame or a dataset. `batch`
    maps a batch to its new rows, as `apply` does. Raises UserError for what `apply` refuses.

        cipher = augury.operator("cipher", keys=[1]).fit(train)
        enciphered = dataset.map_batches(cipher.batch, batch_format="pyarrow")
    """
    from augury.augment.on_frames import FrameOperator

    return FrameOperator.of(name, language, settings)
