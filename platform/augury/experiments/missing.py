"""What experiments read and is not there: texts and files of operators, of all stages and models
behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from augury.augment.mixins import ExtraInputs
from augury.corpora.ingest import missing_texts, unreadable
from augury.experiments.spec import Experiment, last_stage


def missing_inputs(experiments: Iterable[Experiment]) -> dict[str, str]:
    """Return why inputs cannot be read: file or known set -> error, each once; empty if all can."""
    missing: dict[str, str] = {}
    for experiment in experiments:
        for part in _behind(last_stage(experiment)):
            extra = [operator for operator in part.augment if isinstance(operator, ExtraInputs)]
            texts = [text for operator in extra for text in operator.texts().values()]
            for spec in [part.corpus, *texts]:
                missing = missing_texts(spec) | missing
            files = (file for operator in extra for file in operator.files())
            missing |= {
                file: error for file in files if file not in missing and (error := unreadable(file))
            }
    return missing


def _behind(experiment: Experiment) -> Iterator[Experiment]:
    """Yield an experiment, the stages before it, and the experiments that train models of
    operators."""
    yield experiment
    if before := experiment.before():
        yield from _behind(before)
    for model in experiment.model_experiments().values():
        yield from _behind(model)
