"""Table 1 of my paper: `augury reproduce smoothing.py`."""

from augury.sweeping.declarations import PaperTable

TABLES = {
    "smoothing": PaperTable(
        paper="Me (2026), Smoothing on Captions",
        where="Table 1",
        question="Does label smoothing matter on captions?",
        base={
            "name": "smoothing",
            "task": "nmt",
            "corpus": {
                "known": "multi30k",
                "source_language": "de",
                "target_language": "en",
                "train": {"first": 5000},
            },
            "training": {"max_epochs": 40, "patience": 5},
        },
        scales={"paper": {}},
        rows={"none": {"regime.label_smoothing": 0}, "0.1": {"regime.label_smoothing": 0.1}},
        metric="valid/bleu",
        seeds=(1, 2, 3),
        published={"none": {"test2016": 26.1}, "0.1": {"test2016": 27.4}},  # by test set
        tolerance=0.5,
        deviations={"paper": ()},
    )
}
