"""Files as other tools write them: each convention is told by the file, or named in an error."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import Corpus
from augury.corpora.delimited import rows_of
from augury.corpora.files import examine, layout_of, read_sentences
from augury.corpora.identification import marks_of_tools
from augury.corpora.ingest import ingest
from augury.corpora.readers import open_text
from augury.corpora.spec import CorpusSpec, LabelledSpec, MonolingualSpec, NliSpec
from augury.corpora.tables import class_names, column_names, read_table

FRAME = pd.DataFrame(
    {
        "text": [
            'Sie sagte: "Ja".',
            "ein Tab\tdarin",
            "zwei\nZeilen",
            '"ganz"',
            "Komma, Strich;",
            "größer",
        ],
        "label": ["a", "b", "a", "b", "a", "b"],
    }
)
ROWS = [tuple(row) for row in FRAME.itertuples(index=False)]
PLAIN = [row for row in ROWS if "\t" not in row[0] and "\n" not in row[0]]


def as_r(frame: pd.DataFrame) -> str:
    """What `write.table(frame, sep="\\t", row.names=FALSE)` of R writes."""
    rows = [frame.columns, *frame.itertuples(index=False)]
    return "".join("\t".join('"' + f.replace('"', '\\"') + '"' for f in row) + "\n" for row in rows)


def read(path: Path, layout: str) -> list[tuple[str, str]]:
    table = pa.concat_tables(read_table(str(path), layout, ["text", "label"]))
    table = table.select(["text", "label"])
    return [tuple(row.values()) for row in table.to_pylist()]


TABLES: dict[str, tuple[str, str]] = {
    "tsv of pandas": ("tsv", FRAME.to_csv(sep="\t", index=False)),
    "tsv, all quoted": ("tsv", FRAME.to_csv(sep="\t", index=False, quoting=csv.QUOTE_ALL)),
    "tsv with a header that is not quoted": (
        "tsv",
        "text\tlabel\n" + FRAME.to_csv(sep="\t", index=False, header=False, quoting=csv.QUOTE_ALL),
    ),
    "tsv of R": ("tsv", as_r(FRAME)),
    "csv": ("csv", FRAME.to_csv(index=False)),
    "csv with semicolons": ("csv", FRAME.to_csv(sep=";", index=False)),
    "csv after comments": ("csv", "# a\n# b c\n" + FRAME.to_csv(index=False)),
    "csv after prose": ("csv", "# exported 2024\n# by me, and you\n" + FRAME.to_csv(index=False)),
    "csv with apostrophes": (
        "csv",
        FRAME.to_csv(index=False, quotechar="'", quoting=csv.QUOTE_ALL),
    ),
    "csv with bars": ("csv", FRAME.to_csv(sep="|", index=False)),
    "csv with tabs": ("csv", FRAME.to_csv(sep="\t", index=False)),
    "tsv with commas": ("tsv", FRAME.to_csv(index=False)),
    "csv for Excel": ("csv", "sep=;\r\n" + FRAME.to_csv(sep=";", index=False)),
    "csv for Excel, quoted": ("csv", '"sep=;"\n' + FRAME.to_csv(sep=";", index=False)),
    "csv with a mark": ("csv", "\ufeff" + FRAME.to_csv(index=False)),
    "csv with a mark for Excel": ("csv", "\ufeffsep=,\n" + FRAME.to_csv(index=False)),
    "csv with escapes": ("csv", FRAME.to_csv(index=False, doublequote=False, escapechar="\\")),
    "tsv with numbers and truth values that are not quoted": (
        "tsv",
        FRAME.assign(ok=True, on="2024-01-01", of="0,5")
        .to_csv(sep="\t", index=False, quoting=csv.QUOTE_ALL)
        .replace('"True"\t"2024-01-01"\t"0,5"', "True\t2024-01-01\t0,5"),
    ),
    "tsv of Excel": (
        "tsv",
        FRAME.to_csv(sep="\t", index=False).replace("Komma, Strich;", '"Komma, Strich;"'),
    ),
    "csv with CR": (
        "csv",
        FRAME.to_csv(index=False, lineterminator="\r", quoting=csv.QUOTE_ALL),
    ),
    "csv with CR LF": ("csv", FRAME.to_csv(index=False, lineterminator="\r\n")),
    "json lines": ("jsonl", FRAME.to_json(orient="records", lines=True)),
    "json": ("jsonl", FRAME.to_json(orient="records", indent=1)),
    "csv with empty lines": ("csv", FRAME.to_csv(index=False).replace("\nein", "\n\nein") + "\n"),
    "tsv with empty lines": ("tsv", FRAME.to_csv(sep="\t", index=False) + "\n\n"),
    "tsv with empty lines between rows": (
        "tsv",
        FRAME.to_csv(sep="\t", index=False).replace("\nein", "\n\nein"),
    ),
    "json with empty lines": ("jsonl", "\n\n" + FRAME.to_json(orient="records")),
    "json lines with empty lines": (
        "jsonl",
        FRAME.to_json(orient="records", lines=True).replace("\n", "\n\n"),
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_gives_the_frame_that_was_written(tmp_path: Path, name: str) -> None:
    layout, content = TABLES[name]
    (tmp_path / "table").write_bytes(content.encode())
    assert read(tmp_path / "table", layout) == ROWS


def test_commas_of_decimals_are_no_delimiters(tmp_path: Path) -> None:
    (tmp_path / "table").write_text("gut;4,5\nschlecht;1,0\n")
    assert [row for _, row in rows_of(str(tmp_path / "table"), "csv")] == [
        ["gut", "4,5"],
        ["schlecht", "1,0"],
    ]


def test_apostrophes_around_all_fields_but_the_header_are_quotes(tmp_path: Path) -> None:
    (tmp_path / "table").write_text("text,label\n'A, b','x'\n'woman''s','y'\n")
    assert read(tmp_path / "table", "csv") == [("A, b", "x"), ("woman's", "y")]


@pytest.mark.parametrize("before", ["", "# a comment\n#\n"])
def test_rows_that_begin_as_comments_do_are_read(tmp_path: Path, before: str) -> None:
    rows = ["#happy day\ta", "#sad\tb", "# 1\ta", "no mark\tb"]
    (tmp_path / "table").write_text(before + "\n".join(rows) + "\n")
    found = rows_of(str(tmp_path / "table"), "tsv")
    assert ["\t".join(fields) for _, fields in found] == rows


@pytest.mark.parametrize(
    "rows",
    [
        PLAIN,
        [('"Komm her', "a"), ("mitten", "b"), ('er ging."', "a")],
        [('"Ja."', "a"), ("Nein.", "b"), ('"Gut", sagte er.', "a")],
        [('"Ja."', "a"), ("Nein.", "b")],
        [('5 " breit', "a"), ("ohne", "b")],
        [('"Ja, gut."', "a"), ("Nein.", "b")],
    ],
)
def test_quotation_marks_of_text_stay_in_tsv(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    """Also one that opens in one sentence and closes in a later one."""
    lines = [f"{text}\t{label}\n" for text, label in [("text", "label"), *rows]]
    (tmp_path / "table").write_text("".join(lines))
    assert read(tmp_path / "table", "tsv") == rows


@pytest.mark.parametrize(
    ("layout", "content", "message"),
    [
        ("csv", 'text,label\n"a"b,c\n', "line 2"),
        ("csv", 'text,label\n"x\ny",a\nz\n', "line 4"),
        ("csv", "sep=;\ntext;label\na\n", "line 3"),
        ("csv", "text,text,label\na,b,c\n", "several columns 'text'"),
        ("tsv", '"text"\t"label"\n"a ""b"""\t"c"\n"d"\n', "line 3"),
        ("jsonl", '{"text": "a", "label": "b"}\n{"text": "a"}\n', "line 2 has no column 'label'"),
        ("jsonl", '[{"text": "a", "label": "b"}, {"text": "a"}]', "record 2 has no column 'label'"),
        ("tsv", "text\tlabel\na\tb\nc\n", "line 3 has 1 column,"),
        ("tsv", "text\tlabel\na\tb\tc\n", "line 2 has 3 columns,.* or, .*the header"),
        ("csv", 'text,label\na,"b\n', "line 2"),
        ("csv", "text,label\rmore\na,b\nc,d\n", "line 1: not CSV"),
        ("jsonl", '{"text": "a", "label": "b"}\n["x"]\n', "line 2 is no record"),
        ("jsonl", '{"text": ["x"], "label": "b"}\n', "line 1: 'text' is .*, not text"),
        ("jsonl", '{"text": "bad \\ud800 here", "label": "b"}\n', "line 1: .* half a character"),
        ("jsonl", '[{"text": "a"', "line 1 is not valid JSON"),
        ("jsonl", '[\n{"text": "a"},\n{"text" "b"}]', "line 3 is not valid JSON"),
        ("jsonl", '{\n"data": [\n{"text": "a", "label": "b"}]}', "records under 'data'"),
    ],
)
def test_a_fault_has_its_line(tmp_path: Path, layout: str, content: str, message: str) -> None:
    (tmp_path / "table").write_text(content)
    with pytest.raises(UserError, match=message):
        read(tmp_path / "table", layout)


def test_tables_without_names_or_records_are_named(tmp_path: Path) -> None:
    many = pd.concat([FRAME] * 40, ignore_index=True)
    for layout, content, told in (
        ("csv", "\n\n", "first line is empty"),
        ("jsonl", many.to_json(), "a record of 480 fields: .*orient"),
        ("jsonl", '{"data": [{"text": "a", "label": "b"}]}\n', "records under 'data'"),
        ("jsonl", "[]", "has no records"),
        ("jsonl", '["a", "b"]', "record 1 is no record"),
        ("csv", "<!-- saved -->\n<html><p>404\n", "HTML"),
    ):
        (tmp_path / "table").write_text(content)
        with pytest.raises(UserError, match=told):
            column_names(str(tmp_path / "table"), layout)
    (tmp_path / "table").write_text('{"text": "a"}\n{"text": "b", "label": "c"}\n')
    assert column_names(str(tmp_path / "table"), "jsonl") == ["text", "label"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 0.0, None], ["1", "0", ""]),
        ([0.5, 2.0, float("nan")], ["0.5", "2", ""]),
        ([True, False, None], ["true", "false", ""]),
        ([-1, 2, None], ["-1", "2", ""]),
        (["①", "²", None], ["①", "²", ""]),
    ],
)
def test_labels_of_json_are_those_of_parquet(
    tmp_path: Path, values: list[Any], expected: list[str]
) -> None:
    rows = [{"text": "a", "label": value} for value in values]
    (tmp_path / "a").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pq.write_table(pa.table({"text": ["a"] * 3, "label": pa.array(values)}), tmp_path / "b")
    for path, layout in (("a", "jsonl"), ("b", "parquet")):
        assert [label for _, label in read(tmp_path / path, layout)] == expected


@pytest.mark.parametrize(
    ("kind", "names"),
    [("labelled", ["neg", "pos"]), ("nli", ["entailment", "neutral", "contradiction"])],
)
def test_classes_of_parquet_have_their_names(tmp_path: Path, kind: str, names: list[str]) -> None:
    """Names of classes are kept in the schema, as the library datasets does; -1 is no label."""
    feature = {"names": names, "_type": "ClassLabel"}
    for unread in ({}, {"info": {"features": {"label": "x"}}}):
        metadata = {"huggingface": json.dumps(unread)}
        named = pa.table({"label": [0]}).replace_schema_metadata(metadata)
        pq.write_table(named, tmp_path / "other.parquet")
        assert class_names(str(tmp_path / "other.parquet"), "label") == ()
    metadata = {"huggingface": json.dumps({"info": {"features": {"label": feature}}})}
    named = pa.table({"label": names}).replace_schema_metadata(metadata)
    pq.write_table(named, tmp_path / "named.parquet")
    assert class_names(str(tmp_path / "named.parquet"), "label") == ()  # it has them itself
    numbers = [len(names) - 1, -1, 0]
    texts = dict.fromkeys(("text", "premise", "hypothesis"), ["a", "b", "c"])
    table = pa.table({**texts, "label": numbers}).replace_schema_metadata(metadata)
    pq.write_table(table, tmp_path / "a.parquet")
    content = {"language": "en", "train": {"file": str(tmp_path / "a.parquet")}}
    spec = (
        NliSpec.model_validate(content)
        if kind == "nli"
        else LabelledSpec.model_validate({**content, "labels": names})
    )
    corpus = ingest(spec, "train", Store(tmp_path / "store"))
    assert corpus.column("label") == [names[-1], names[0]]
    assert corpus.manifest["rejected"] == {"no gold label": 1}


def test_a_name_can_stand_for_no_label(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("text\tlabel\na\t0\nb\t-1\nc\t1\nd\t\n")
    text = {"file": str(tmp_path / "a.tsv"), "labels": {-1: None, "": None, "0": "no"}}
    spec = LabelledSpec.model_validate({"language": "en", "labels": ["no", "1"], "train": text})
    assert ingest(spec, "train", Store(tmp_path / "store")).column("label") == ["no", "1"]


def archive(kind: str) -> bytes:
    file = io.BytesIO()
    if kind == "tar":
        with tarfile.open(fileobj=file, mode="w") as tar:
            tar.addfile(tarfile.TarInfo("a.de"), io.BytesIO())
    else:
        with zipfile.ZipFile(file, "w") as zipped:
            zipped.writestr("a.de", "Hallo\n")
    return file.getvalue()


def parquet(columns: dict[str, list[str]]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return bytes(sink.getvalue())


CYRILLIC, CHINESE = "Привет, мир\nДа\n" * 9, "医生今天看见绿茶。\n老师在家。\n" * 9
REFUSED: dict[str, tuple[bytes, str]] = {
    **{
        f"{encoding} {text[0]}": (text.encode(encoding), encoding[:6].upper())
        for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")
        for text in ("Hallo\n", CYRILLIC, CHINESE)
    },
    "latin1": ("Müller\n".encode("latin1"), "line 1, .*-f windows-1252"),
    "marked UTF-16": (codecs.BOM_UTF16_BE + "Hallo\n".encode("utf-16-be"), "-f UTF-16BE"),
    "ISO-2022-KR": ("안녕\n".encode("iso2022_kr"), "-f ISO-2022-KR"),
    "ISO-2022-JP": ("今日は\n".encode("iso2022_jp"), "-f ISO-2022-JP"),
    "compressed": (gzip.compress("Hallo\n".encode("utf-16-le")), "zcat a.gz | iconv -f UTF-16LE"),
    "PNG": (b"\x89PNG\r\n\x1a\n", "picture"),
    "cp1251": (CYRILLIC.encode("cp1251"), "line 1, .*windows-1251"),
    "NUL": (b"eins\nzw\0ei\n", "line 2"),
    "NUL far behind": (b"eins\n" * 900_000 + b"\0\n", "line 900001"),
    "zip": (archive("zip"), "ZIP"),
    "tar": (archive("tar"), r"archive .*\.tar"),
    "tar.xz": (lzma.compress(archive("tar")), r"archive .*\.tar"),
    "twice": (bz2.compress(bz2.compress(b"eins\n")), "compressed twice"),
    "Parquet": (parquet({"de": ["eins"]}), "Parquet"),
    "PDF": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "PDF"),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "Office"),
    "npy": (b"\x93NUMPY\x01\x00v\x00", "Python"),
    "LFS": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "LFS"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_text_is_named(tmp_path: Path, name: str) -> None:
    content, kind = REFUSED[name]
    path = tmp_path / ("a.gz" if name == "compressed" else "a")
    path.write_bytes(content)
    with pytest.raises(UserError, match=kind.replace(" | ", r" \| ")) as error:
        examine(str(path))
    assert "\n" not in str(error.value)


def test_bzip2_is_read_and_one_of_many_numbers_of_bytes_is_text(tmp_path: Path) -> None:
    (tmp_path / "a.bz2").write_bytes(bz2.compress("Привет\nдва\n".encode()))
    assert examine(str(tmp_path / "a.bz2")).lines == 2
    for content in ("a\n", "ab\nc\n", "漢\n", "PK\n", "<b> eins\n", "%PDF\n"):
        (tmp_path / "a").write_text(content)
        assert examine(str(tmp_path / "a")).lines == content.count("\n")
        assert layout_of(str(tmp_path / "a")) == "lines"


SGM = """<srcset setid="x" srclang="any">
<doc docid="a"><hl>
<!-- <seg id="0">nichts</seg> --><seg id="1">Müller &amp; <![CDATA[Söhne]]></seg>
</hl><p>
<seg id=2> &quot;Ja&quot;
&#228; </seg><SEG id="3">drei</SEG>
</p></doc>
</srcset>
"""
WMT = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="news"><doc id="a" origlang="de"><src lang="de"><p>
<seg id="1">eins</seg><seg id="2">zwei &lt;2&gt;</seg></p></src>
<ref lang="en" translator="A"><p><seg id="1">one</seg>
<seg id="2">two &lt;2&gt;</seg></p></ref>
<ref lang="en" translator="B"><p><seg id="1">1</seg><seg id="2">2</seg></p></ref>
<hyp system="x"><p><seg id="1">un</seg><seg id="2">du</seg></p></hyp></doc>
<doc id="b"><src lang="de"><seg id="1">drei</seg></src><ref lang="en"><seg id="1">three</seg></ref>
</doc></dataset>
"""


def sides(tmp_path: Path, source: str, target: str) -> list[tuple[str, str]]:
    paths = [tmp_path / "a", tmp_path / ("a" if source == target else "b")]
    for path, content in zip(paths, (source, target), strict=True):
        path.write_text(content)
    text = open_text(
        CorpusSpec.TEXT.model_validate(dict(source=str(paths[0]), target=str(paths[1]))), "test"
    )
    rows = pa.concat_tables(text.blocks())
    assert text.total == len(rows)
    return list(zip(*(rows.column(side).to_pylist() for side in ("source", "target")), strict=True))


def test_segments_of_markup_are_sentences(tmp_path: Path) -> None:
    german = ["Müller & Söhne", '"Ja" ä', "drei"]
    english = ["one", "two", "three"]
    assert sides(tmp_path, SGM, "one\ntwo\nthree\n") == list(zip(german, english, strict=True))
    both = [("eins", "one"), ("zwei <2>", "two <2>"), ("drei", "three")]
    assert sides(tmp_path, WMT, WMT) == both
    assert read_sentences(str(tmp_path / "a")) == ["one", "two <2>", "three"]
    talk = "<url>http://x</url>\n<talkid>1</talkid>\nEin Satz.\n"
    assert sides(tmp_path, talk, "A sentence.\n") == [("Ein Satz.", "A sentence.")]
    lines = '<doc docid="a"><seg id="1">one:\n<b>two</b></seg>\n<seg id="2">x\n<5 km</seg></doc>\n'
    assert sides(tmp_path, lines, "a\nb\n") == [("one: <b>two</b>", "a"), ("x <5 km", "b")]
    both = "".join(f"<srcset setid='{name}'>{segments('a-1')}</srcset>" for name in "xy")
    assert sides(tmp_path, both, "a\nb\n") == [("a1", "a"), ("a1", "b")]
    sets = f"<srcset>{segments('a-1')}</srcset><refset>{segments('asx')}</refset>"
    assert sides(tmp_path, sets, sets) == [("a1", "ax")]
    assert sides(tmp_path, "<seg>one\n</p>\n<p>\n<seg>two", "a\nb\n") == [
        ("one", "a"),
        ("two", "b"),
    ]
    talks = (
        "<doc docid='1'><url>x</url>\n<talkid>1</talkid> <reviewer href='y'/>\nEin Satz.\n</doc>\n"
    )
    assert sides(tmp_path, talks, "A sentence.\n") == [("Ein Satz.", "A sentence.")]
    spec = MonolingualSpec.model_validate(
        {"language": "de", "train": {"lines": str(tmp_path / "a")}}
    )
    assert ingest(spec, "train", Store(tmp_path / "store")).rows == 1


def segments(*documents: str) -> str:
    """A file of documents, each given by its name, its system and the names of its segments."""
    return "".join(
        f'<doc docid="{name}" sysid="{system}">'
        + "".join(f'<seg id="{segment}">{name}{segment}</seg>\n' for segment in names)
        + "</doc>\n"
        for name, system, *names in documents
    )


def test_segments_of_both_sides_are_the_same(tmp_path: Path) -> None:
    """Of several translations of a document the first is read."""
    both = segments("a-12", "b-12")
    assert len(sides(tmp_path, both, segments("aA12", "bA12", "aB12", "bB12"))) == 4
    for target, told in (
        (segments("b-12", "a-12"), "is 1 of document a, and of .* document b:"),
        (segments("a-23", "b-12"), "segment 1 of .* is 1 of document a, and of .* 2 of document a"),
    ):
        with pytest.raises(UserError, match=told):
            sides(tmp_path, both, target)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ('<?xml version="1.0"?>\n<tmx version="1.4"><body><tu><seg>a</seg></tu></body>', "TMX"),
        ('\ufeff<xliff version="1.2"><file>', "XLIFF"),
        ('<!DOCTYPE tmx [\n<!ENTITY ut "x">\n]>\n<tmx><seg>a</seg></tmx>', "TMX"),
        ("<!-- mine -->\n<tmx><body><tu><seg>a</seg></tu></body>", "TMX"),
        ("\ufeff1\r\n00:00:01,000 --> 00:00:02,000\r\nyes\r\n", "subtitles"),
        ("WEBVTT\n\n00:01.000 --> 00:02.000\nyes\n", "subtitles"),
        ('# a note\n\nmsgid "yes"\nmsgstr "ja"\n', "Gettext"),
        ("__label__pos a good film\n", "label"),
        ("<!DOCTYPE html>\n<html><p>404", "HTML"),
        ('<?xml version="1.0"?>\n<corpus><body><s>a</s></body></corpus>', "XML without"),
        ("<!-- saved -->\n<head><title>", "HTML"),
        ("eins\rzwei\rdrei\r", "CR"),
    ],
)
def test_other_markup_and_line_ends_are_named(tmp_path: Path, content: str, kind: str) -> None:
    (tmp_path / "a").write_text(content, newline="")
    with pytest.raises(UserError, match=kind):
        layout_of(str(tmp_path / "a"))


def corpus_of(tmp_path: Path, pairs: list[tuple[str, str]], **settings: Any) -> Corpus:
    for side in (0, 1):
        (tmp_path / f"{side}").write_text("".join(f"{pair[side]}\n" for pair in pairs))
    train = {"source": str(tmp_path / "0"), "target": str(tmp_path / "1")}
    languages = {"source_language": "de", "target_language": "en"}
    spec = CorpusSpec.model_validate({**languages, "train": train, **settings})
    return ingest(spec, "train", Store(tmp_path / "store"))


@pytest.mark.parametrize(
    ("pair", "settings", "told"),
    [
        (("Ein Satz.", "He said: 'Yes', 5 > 3 & so on..."), {}, []),
        (("Ein Satz .", "A sentence, no more."), {}, ["source looks tokenised"]),
        (("Ein Satz.", "rock @-@ solid"), {}, ["target looks tokenised"]),
        (("Ein Satz.", "the dog 's tail"), {}, ["target looks tokenised"]),
        (("die &quot;Katze&quot;", "a cat"), {}, ["source has escaped"]),
        (("M&auml;nner", "men"), {}, ["source has escaped"]),
        (("\ufeffdie Katze", "the \ufeffcat"), {}, []),
        (("die &quot;Katze&quot;", "a cat"), {"filter": {"unescape": True}}, []),
    ],
)
def test_marks_of_tokenisers_and_of_markup_are_said(
    tmp_path: Path, pair: tuple[str, str], settings: dict[str, Any], told: list[str]
) -> None:
    pairs = [pair, *((f"Das ist {n}.", f"This is {n}.") for n in range(8))]
    corpus = corpus_of(tmp_path, pairs, **settings)
    assert "\ufeff" not in "".join(corpus.column("source") + corpus.column("target"))
    notes = marks_of_tools("train", corpus)
    assert len(notes) == len(told)
    assert all(part in note for part, note in zip(told, notes, strict=True))


def nli_portions(path: Path, rows: list[tuple[str, str, str]]) -> list[list[tuple[str, ...]]]:
    lines = ["\t".join(row) + "\n" for row in [("premise", "hypothesis", "label"), *rows]]
    path.write_text("".join(lines))
    parts = []
    for portion in ((0, 0.8), (0.8, 0.9), (0.9, 1)):
        table = pa.concat_tables(
            open_text(NliSpec.TEXT(file=str(path), format="tsv", portion=portion), "train").blocks()
        )
        columns = ["premise", "hypothesis", "label"]
        kept = table.filter(table.column("selected")).select(columns)
        parts.append([tuple(row.values()) for row in kept.to_pylist()])
    return parts


LABELS = ("entailment", "neutral", "contradiction")
NLI: dict[str, Callable[[], list[tuple[str, str, str]]]] = {
    "premises of three": lambda: [
        (f"premise {n // 3}", f"hypothesis {n}", LABELS[n % 3]) for n in range(600)
    ],
    "counterfactual pairs": lambda: [
        pair
        for n in range(150)
        for pair in (
            (f"p {n}", f"h {n}", LABELS[0]),
            (f"p {n}", f"not h {n}", LABELS[2]),
            (f"q {n}", f"h {n}", LABELS[1]),
            (f"q {n}", f"h {n + 1000}", LABELS[0]),
        )
    ],
    "a hypothesis of half of them": lambda: [
        (f"p {n}", "h" if n % 2 else f"h {n}", LABELS[n % 3]) for n in range(600)
    ],
    "rare labels": lambda: [(f"p {n}", f"h {n}", LABELS[(n % 20 == 0) + 0]) for n in range(600)],
}


FIRST = dict(zip(NLI, ("premise 4", "p 7", "p 12", "p 2"), strict=True))
"""Golden: the first premise of the second portion."""


@pytest.mark.parametrize("name", NLI)
def test_portions_share_no_sentence_and_have_the_shares_of_labels(
    tmp_path: Path, name: str
) -> None:
    rows = NLI[name]()
    parts = nli_portions(tmp_path / "a.tsv", rows)
    assert sorted(row for part in parts for row in part) == sorted(rows)
    sentences = [{text for row in part for text in row[:2]} for part in parts]
    assert not any(sentences[one] & sentences[other] for one, other in ((0, 1), (0, 2), (1, 2)))
    assert all(len(part) > 20 for part in parts)
    assert parts[1][0][0] == FIRST[name]
    for label in LABELS:
        of_all = np.mean([row[2] == label for row in rows])
        for part in parts:
            assert abs(np.mean([row[2] == label for row in part]) - of_all) < 0.05
