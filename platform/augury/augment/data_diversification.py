"""Data diversification: training text in both directions by several models (Nguyen et al. 2020)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from augury.augment.health import YIELD
from augury.augment.models import ModelInputs
from augury.augment.operator import REJECTED, CorpusOperator, OperatorOutput, new_records
from augury.augment.translation import (
    BACKWARD,
    FORWARD,
    cleaned_outputs,
    direction_experiment,
    translation,
)
from augury.core.config import Overrides
from augury.core.errors import UserError, unknown
from augury.core.execution import Execution
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.corpora.filters import Duplicates, row_hashes
from augury.decoding.settings import PLAIN, Decoding


class DataDiversification(CorpusOperator):
    """Pairs of sources and translations, and of translated targets and the targets (Nguyen et al.
    2020).

    Models of both directions are trained on the training text and translate it. Empty translations
    are left out, and pairs that the text or an earlier model has. Copies of a record are numbered
    by forward model and its views, then by backward model.
    """

    operator: Literal["data_diversification"] = "data_diversification"
    seeds: tuple[int, ...] = Field((1, 2, 3), min_length=1)
    """Seeds of the forward models, and of the backward ones."""
    views: tuple[str, ...] = Field((PLAIN,), min_length=1)
    """Views in which every model reads the text. With `plain`, `rot-1` and `rot-2`, one CipherDAug
    model with two keys replaces three models."""
    directions: tuple[Literal["forward", "backward"], ...] = Field(
        ("forward", "backward"), min_length=1
    )
    """forward: the sources with their translations; backward: translations of the targets with the
    targets."""
    system: Overrides = {}
    """Dotted keys in which the experiments that train models differ from the plain baseline of this
    one, such as `augment`, `regime` or `training.max_epochs`."""
    decoding: Decoding = Decoding(length_penalty=0.6)
    """Decoding of the models; the default is that of the released code."""

    VERSION: ClassVar[int] = 2
    NORMAL: ClassVar[frozenset[str]] = frozenset({YIELD})
    LEARNED: ClassVar[frozenset[str]] = frozenset({"seeds", "directions", "system"})

    def expected_records(self, parents: float, texts: Mapping[str, int]) -> float:
        return len(self.directions) * len(self.seeds) * len(self.views) * parents

    def models(self, experiment: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
        models: dict[str, Mapping[str, Any]] = {}
        for direction in (FORWARD, BACKWARD):
            if direction.name in self.directions:
                trained = direction_experiment(direction, experiment, self.system)
                sections = {"name": direction.name, "seeds": list(self.seeds)}
                models[direction.name] = {**trained, **sections}
        return models

    def check_model(self, role: str, given: ModelInputs, needed: Sequence[str]) -> None:
        for view in self.views:
            if view not in given.views:
                raise UserError(
                    f"operator {self.operator}: {unknown('view', view, given.views)}; the {role} "
                    "model makes views by operators of its own, such as system: {augment: "
                    "[{operator: cipher, keys: [1, 2]}], regime: ...}"
                )

    def make(
        self, corpus: Corpus, fitted: Mapping[str, Any], store: Store, execution: Execution
    ) -> Iterator[OperatorOutput]:
        known = Duplicates()
        for block in corpus.blocks(["source", "target"]):
            known.repeated(row_hashes(*(column.combine_chunks() for column in block.columns)))
        # Copies are numbered by model, forward ones first, and by its views.
        translations = product(fitted["models"].items(), self.views)
        for number, ((role, model), view) in enumerate(translations, start=1):
            direction = FORWARD if role.startswith(FORWARD.name) else BACKWARD
            written = translation(corpus, direction.read, model, store, view, self.decoding)
            name = f"translate {role}" if view == PLAIN else f"translate {role} {view}"
            outputs = written.by_shard(execution, name)
            for block, hypotheses in zip(corpus.blocks(), outputs, strict=True):
                new, usable, counts = cleaned_outputs(corpus, hypotheses)
                parents = block.filter(usable)
                sides = {direction.read: parents.column(direction.read), direction.written: new}
                repeated = known.repeated(row_hashes(sides["source"], sides["target"]))
                counts[f"{REJECTED}there already"] = int(repeated.sum())
                parents, new = parents.filter(~repeated), new.filter(pa.array(~repeated))
                yield new_records(
                    parents,
                    self,
                    [number] * len(parents),
                    {direction.written: new},
                    counts=counts,
                    made_from=[written.folder.name],
                    made_of={direction.written: parents.column(direction.read)},
                )


OPERATOR = DataDiversification
