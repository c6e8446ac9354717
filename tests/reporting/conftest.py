"""Run folders, corpora and sweeps as an experiment and a driver leave them, and a reader of
pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from augury.core.naming import title
from augury.core.store import Folder, Store
from augury.corpora.corpus import NLI, PARALLEL, CorpusWriter
from augury.experiments.record import Input, RunRecord
from augury.scoring.scores import score
from augury.scoring.stored import Score, write_statistics
from augury.sweeping import state
from augury.sweeping.state import Sweep
from augury.training.history import History
from tests.run_folders import outcome, write_scores

TEST_ADDRESS = "7e57" * 4


class Results:
    """A storage that fills with runs."""

    def __init__(self, store: Store):
        self.store = store

    def corpus(
        self, pairs: list[tuple[str, str]], note: str | None = None, address: str = TEST_ADDRESS
    ) -> None:
        rows = [
            {
                "id": f"test:{index}",
                "source": source,
                "target": target,
                "source_language": "de",
                "target_language": "en",
                "origin": "corpus",
                "views": [],
                "lineage": None,
            }
            for index, (source, target) in enumerate(pairs)
        ]
        writer = CorpusWriter(self.store.folder("corpora", address))
        writer.add(pa.Table.from_pylist(rows, schema=PARALLEL.schema))
        writer.finish({"note": note})

    def inferences(self, examples: list[tuple[str, str, str]], address: str = TEST_ADDRESS) -> None:
        """A test set of premises, hypotheses and labels."""
        rows = [
            {
                "id": f"test:{index}",
                "premise": premise,
                "hypothesis": hypothesis,
                "label": label,
                "language": "sw",
                "origin": "corpus",
                "views": [],
                "lineage": None,
            }
            for index, (premise, hypothesis, label) in enumerate(examples)
        ]
        writer = CorpusWriter(self.store.folder("corpora", address))
        writer.add(pa.Table.from_pylist(rows, schema=NLI.schema))
        writer.finish({"kind": "nli", "note": None})

    def run(
        self,
        name: str,
        address: str,
        seed: int = 1,
        *,
        bleu: float | None = None,
        chrf: float = 50.0,
        half_width: float = 1.0,
        parameters: Mapping[str, Any] | None = None,
        seconds: float = 100.0,
        cpu_seconds: float | None = None,
        device: str = "cpu",
        signature: str = "tok:13a",
        hypotheses: list[str] | None = None,
        history: list[tuple[int, dict[str, float]]] | None = None,
        data: float = 1.0,
        test: str = "test",
        metric: str = "bleu",
    ) -> Folder:
        """A run; scored if `bleu` is given, which is the value of `metric`."""
        run = self.store.folder("runs", f"{address}/seed-{seed}")
        record = RunRecord(
            name=name,
            experiment="ciphers",
            address=address,
            seed=seed,
            task="nmt",
            inputs=(Input("train", "a" * 16, 2900), Input(test, TEST_ADDRESS, 3)),
            parameters={"training.precision": "fp32", **(parameters or {})},
            versions={"augury": "0.1.0", "torch": "2.13.0"},
            commit="c0ffee",
        )
        record.write_description(run, {})
        if bleu is not None:
            scores = [
                Score(of, value, value - half_width, value + half_width, signature, 2000)
                for of, value in ((metric, bleu), ("chrf", chrf))
            ]
            training = outcome(
                seconds,
                cpu_seconds=cpu_seconds,
                parameters=1_230_000,
                updates=400,
                rows=5_400_000,
                device=device,
            )
            write_scores(run, {test: scores}, training, data)
        if hypotheses is not None:
            run.sub("hypotheses").write(f"{test}.txt", "".join(f"{line}\n" for line in hypotheses))
        if history is not None:
            lines = [
                json.dumps(
                    {"update": update, "epochs": 0, "time": 1.7e9 + 2 * update, "metrics": metrics}
                )
                + "\n"
                for update, metrics in history
            ]
            run.sub("history").write("00000001.jsonl", "".join(lines))
        return run

    def classified(
        self,
        name: str,
        address: str,
        seed: int = 1,
        *,
        correct: Sequence[int],
        test: str = "test",
        **run: Any,
    ) -> Folder:
        """A run whose labels are right (1) or wrong (0), scored by accuracy, with the counts of
        its examples."""
        scores = score(
            [str(label) for label in correct], ["1"] * len(correct), metrics=["accuracy"]
        )
        folder = self.run(name, address, seed, bleu=0.0, test=test, **run)
        content = folder.read_record("scores.json")
        write_statistics(folder, test, scores)
        folder.write_record(
            "scores.json",
            content | {"tests": {test: [item.to_dict() for item in scores]}},
            [f"counts/{test}.npz"],
        )
        return folder


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(Store(tmp_path / "results"))


class Sweeps:
    """Writes one sweep into the storage of `results`."""

    def __init__(self, results: Results, name: str = "beta"):
        self.results, self.name = results, name
        self.folder = results.store.folder(state.KIND, name)
        self.configurations: list[dict[str, Any]] = []
        self.trials: dict[str, dict[str, Any]] = {}
        self.decisions: list[dict[str, Any]] = []
        self.merged: list[dict[str, Any]] = []
        self.confirmation: dict[str, Any] | None = None

    def configuration(self, point: Mapping[str, Any], name: str | None = None, **other: Any) -> str:
        """A configuration without trials; returns its address."""
        address = f"{len(self.configurations):016x}"
        self.configurations.append(
            {"name": name or title(point), "address": address, "point": dict(point), **other}
        )
        return address

    def trial(
        self,
        address: str,
        seed: int,
        values: Sequence[float],
        progress: str = "finished",
        *,
        error: str | None = None,
        bleu: float | None = None,
        seconds: float = 60.0,
        **run: Any,
    ) -> Folder:
        """A trial with its validations, one in `seconds`.

        Finished ones are scored with the last value or `bleu`.
        """
        name = next(
            configuration["name"]
            for configuration in self.configurations
            if configuration["address"] == address
        )
        scored = bleu if bleu is not None else values[-1] if progress == "finished" else None
        folder = self.results.run(
            name, address, seed, bleu=scored, seconds=seconds * len(values), **run
        )
        history = History(folder)
        for index, value in enumerate(values, start=1):
            history.add(100 * index, 0, {"valid/bleu": value, "train/seconds": seconds * index})
        history.flush()
        if progress == "finished":
            folder.finish({})
        self.trials[f"{address}/seed-{seed}"] = {"progress": progress, "error": error}
        return folder

    def decide(
        self,
        address: str,
        action: str,
        mean: float,
        half: float,
        cut: float,
        seeds: int = 1,
    ) -> None:
        """A decision of the race."""
        self.decisions.append(
            {
                "time": 1.7e9 + 600,
                "configuration": address,
                "action": action,
                "seeds": seeds,
                "mean": mean,
                "low": mean - half,
                "high": mean + half,
                "cut": cut,
            }
        )

    def load(
        self,
        seeds: Sequence[int] = (1, 2, 3),
        *,
        scheduler: str = "all",
        mode: str = "max",
        ended: bool = True,
        question: str = "Does a stronger pull between views help?",
        tests: Sequence[str] = ("test",),
        worth: float = 0.0,
    ) -> Sweep:
        """Write the sweep's two files and read it."""
        keys = list(
            dict.fromkeys(
                key for configuration in self.configurations for key in configuration["point"]
            )
        )
        self.folder.write_record(
            state.DEFINITION,
            {
                "name": self.name,
                "question": question,
                "metric": "valid/bleu",
                "mode": mode,
                "scale": "smoke",
                "keys": keys,
                "seeds": list(seeds),
                "scheduler": scheduler,
                "reference": self.configurations[0]["address"],
                "configurations": self.configurations,
                "merged": self.merged,
                "started": 1.7e9,
                "tests": list(tests),
                "worth": worth,
            },
        )
        self.folder.write_record(
            state.STATE,
            {
                "time": 1.7e9 + 3600,
                "ended": ended,
                "trials": self.trials,
                "decisions": self.decisions,
                "confirmation": self.confirmation,
            },
        )
        return state.load(self.results.store, self.name)


@pytest.fixture
def sweeps(results: Results) -> Sweeps:
    return Sweeps(results)


VOID = {"meta", "link", "br", "img", "line", "circle", "input"}


class Page(HTMLParser):
    """The text, the tags and the addresses of a page; fails on tags that do not match."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str | None] = []
        self.ids: list[str | None] = []
        self.texts: dict[str, list[str]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "data", "action")]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


@pytest.fixture
def read() -> Callable[[str], Page]:
    def page(html: str) -> Page:
        reader = Page()
        reader.feed(html)
        reader.close()
        assert reader.open == []
        return reader

    return page


@pytest.fixture
def hostile() -> str:
    """A name that would load something if it were not escaped."""
    return "</script><img src=http://evil.example/x onerror=alert(1)>"
