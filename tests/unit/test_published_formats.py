"""The files of published benchmarks, as look-alikes written here: what becomes a row, and what is no row."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from certirag.errors import InputError, MissingExtra
from certirag.eval.pair_rows import PairRow
from certirag.eval.published_answers import ANSWER_FORMATS, read_published_answers
from certirag.eval.published_files import joined_tokens
from certirag.eval.published_formats import PAIR_FORMATS, published_pairs

MILL = "The mill of Corrant was sold in 1987. Its wheel is made of oak."
TRUE, UNTRUE, UNKNOWN = (
    "The mill of Corrant was sold in 1987.",
    "The wheel is made of steel.",
    "The mill has two floors.",
)


def _lines(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def _json(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), "utf-8")
    return path


def _csv(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _read(name: str, path: Path) -> list[PairRow]:
    return list(published_pairs(name, path).rows())


def _told(rows: Sequence[PairRow]) -> list[tuple[str, str, str]]:
    return [(row.hypothesis, row.label, row.source) for row in rows]


def _attribution(claim: str, label: str, *references: str) -> dict[str, object]:
    return {
        "question": "When was the mill sold?",
        "claim": claim,
        "claim_raw_string": claim,
        "response": claim,
        "references": list(references),
        "citation_links": None,
        "webpage_references": None,
        "attribution_label": label,
        "src_dataset": "ExpertQA",
        "id": "ExpertQA_0",
    }


def test_attributionbench_joins_the_references_of_a_claim(tmp_path: Path) -> None:
    """All of them are the premise; a claim without one is left out, and counted."""
    path = _lines(
        tmp_path / "test_all_subset_balanced.jsonl.gz",
        _attribution(TRUE, "attributable", MILL, "", "Another page."),
        _attribution(UNTRUE, "not attributable", MILL),
        _attribution(UNKNOWN, "not attributable", " "),
    )
    data = published_pairs("attributionbench", path)
    rows = list(data.rows())
    assert _told(rows) == [
        (TRUE, "entailed", "attributionbench_ExpertQA"),
        (UNTRUE, "not_entailed", "attributionbench_ExpertQA"),
    ]
    assert rows[0].premise == f"{MILL}\n\nAnother page."
    assert data.left_out == Counter({"without a reference": 1})
    assert list(data.rows()) == rows
    assert data.left_out.total() == 1  # read again, counted anew


def test_attrscore_judges_the_answer_without_its_question(tmp_path: Path) -> None:
    """Three labels; an answer of a word or two says nothing alone."""
    row = {"query": "When was it sold?", "reference": MILL}
    path = _csv(
        tmp_path / "AttrEval-GenSearch.csv",
        [
            row | {"answer": TRUE, "label": "Attributable"},
            row | {"answer": UNTRUE, "label": "Contradictory"},
            row | {"answer": UNKNOWN, "label": "Extrapolatory"},
            row | {"answer": "In 1987", "label": "Attributable"},
        ],
    )
    source = "attrscore_AttrEval-GenSearch"
    assert _told(_read("attrscore", path)) == [
        (TRUE, "entailed", source),
        (UNTRUE, "contradicted", source),
        (UNKNOWN, "not_enough_info", source),
    ]


def test_healthver_has_three_labels(tmp_path: Path) -> None:
    """As its CSV has them, with commas and line breaks inside a cell."""
    evidence = 'Of 40 patients, "most" slept\nbetter with the drug.'
    rows = [
        {
            "id": 7,
            "evidence": evidence,
            "claim": claim,
            "label": label,
            "topic_ip": 3,
            "question": "?",
        }
        for claim, label in (
            ("The drug helps sleep ", "Supports"),
            ("The drug hinders sleep", "Refutes"),
            ("The drug is cheap", "Neutral"),
            (" ", "Neutral"),
        )
    ]
    data = published_pairs("healthver", _csv(tmp_path / "healthver_dev.csv", rows))
    found = list(data.rows())
    assert data.left_out == Counter({"without a text or a statement": 1})
    assert [row.label for row in found] == ["entailed", "contradicted", "not_enough_info"]
    assert (found[0].premise, found[0].hypothesis) == (evidence, "The drug helps sleep")


def test_llm_aggrefact_is_parquet(tmp_path: Path) -> None:
    """A row for each claim, its source within the benchmark in its name."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "test-00000-of-00001.parquet"
    columns = {
        "dataset": ["RAGTruth", "Wi\x1b[2J|ce"],
        "doc": [MILL, MILL],
        "claim": [TRUE, UNTRUE],
        "label": [1, 0],
        "contamination_identifier": ["x", "x"],
    }
    parquet.write_table(pyarrow.table(columns), path)
    assert _told(_read("llm-aggrefact", path)) == [
        (TRUE, "entailed", "llm-aggrefact_RAGTruth"),
        (UNTRUE, "not_entailed", "llm-aggrefact_Wi 2J ce"),  # inert in a table
    ]
    parquet.write_table(pyarrow.table(columns | {"label": [1, 2]}), path)
    with pytest.raises(InputError, match=r"parquet, row 2: label: Input should be 0 or 1"):
        _read("llm-aggrefact", path)
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="cannot be read"):
        _read("llm-aggrefact", path)


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line with the command."""
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"certirag\[parquet\]"):
        _read("llm-aggrefact", tmp_path / "a.parquet")


def test_qags_takes_the_majority_of_the_raters(tmp_path: Path) -> None:
    """A row for each sentence; raters who are even say nothing. A folder's two files are read."""

    def rated(sentence: str, *said: str) -> dict[str, object]:
        responses = [{"worker_id": n, "response": word} for n, word in enumerate(said)]
        return {"sentence": sentence, "responses": responses}

    sentences = [rated(TRUE, "yes", "no", "yes"), rated(UNTRUE, "no", "no", "yes")]
    _lines(tmp_path / "mturk_cnndm.jsonl", {"article": MILL, "summary_sentences": sentences})
    even = [rated(UNKNOWN, "yes", "no"), rated(UNKNOWN, "no")]
    _lines(tmp_path / "mturk_xsum.jsonl", {"article": MILL, "summary_sentences": even})
    data = published_pairs("qags", tmp_path)
    assert _told(list(data.rows())) == [
        (TRUE, "entailed", "qags_cnndm"),
        (UNTRUE, "not_entailed", "qags_cnndm"),
        (UNKNOWN, "not_entailed", "qags_xsum"),
    ]
    assert data.left_out.total() == 1


def test_summedits_is_an_array_of_summaries(tmp_path: Path) -> None:
    """The domain is in the source's name."""
    row = {"domain": "news", "id": "a", "doc": MILL, "seed_summary": TRUE, "edit_types": []}
    rows = [row | {"summary": TRUE, "label": 1}, row | {"summary": UNTRUE, "label": 0}]
    found = _read("summedits", _json(tmp_path / "summedits.json", rows))
    assert _told(found) == [
        (TRUE, "entailed", "summedits_news"),
        (UNTRUE, "not_entailed", "summedits_news"),
    ]
    assert found == _read("summedits", tmp_path)
    (tmp_path / "summedits.json").unlink()
    published = {"id": "a", "doc": MILL, "summary": TRUE, "label": 1, "original_summary": TRUE}
    path = _json(tmp_path / "summedits_sales_call.json", [published | {"edit_types": []}])
    assert _told(_read("summedits", path)) == [(TRUE, "entailed", "summedits_sales_call")]


def test_wice_calls_what_is_supported_in_part_not_entailed(tmp_path: Path) -> None:
    """The premise is the whole text that is cited; claims cut into parts have a source of their own."""
    evidence = ["(meta data) TITLE: The mill", "# History", *MILL.split(". ")]
    rows = [
        {"label": label, "supporting_sentences": [[2]], "claim": claim, "evidence": evidence,
         "meta": {"id": "dev0", "claim_title": "Corrant"}}
        for claim, label in (
            (TRUE, "supported"),
            (f"{TRUE[:-1]} to a baker.", "partially_supported"),
            (UNTRUE, "not_supported"),
        )
    ]  # fmt: skip
    found = _read("wice", _lines(tmp_path / "claim" / "dev.jsonl", *rows))
    assert [row.label for row in found] == ["entailed", "not_entailed", "not_entailed"]
    assert found[0].premise == "\n".join(evidence)
    (part, *_) = _read("wice", _lines(tmp_path / "subclaim" / "dev.jsonl", rows[0]))
    assert (found[0].source, part.source) == ("wice", "wice_subclaim")


def _ragtruth(folder: Path, responses: Sequence[Mapping[str, object]]) -> Path:
    sources: list[dict[str, object]] = [
        {"source_id": "1", "task_type": "Summary", "source": "CNN/DM", "source_info": MILL},
        {"source_id": "2", "task_type": "QA", "source": "MARCO",
         "source_info": {"question": "Who?", "passages": f"passage 1:{MILL}\n\npassage 2:More.\n\n"}},
        {"source_id": "3", "task_type": "Data2txt", "source": "Yelp",
         "source_info": {"name": "Mill Inn", "hours": {"Monday": "9:0-17:0"},
                         "attributes": {"WiFi": None, "OutdoorSeating": True},
                         "business_stars": 1.0, "review_info": [{"review_stars": 0}]}},
    ]  # fmt: skip
    _lines(folder / "source_info.jsonl", *(one | {"prompt": "…"} for one in sources))
    shared = {"id": "9", "model": "m", "temperature": 0.7, "split": "test", "quality": "good"}
    return _lines(folder / "response.jsonl", *(shared | one for one in responses)).parent


def _mark(text: str, words: str, kind: str, **more: object) -> dict[str, object]:
    start = text.index(words)
    place = {"start": start, "end": start + len(words), "text": words, "meta": ""}
    return {**place, "label_type": kind, "implicit_true": False, "due_to_null": False, **more}


def test_ragtruth_is_read_sentence_by_sentence(tmp_path: Path) -> None:
    """A mark of few words is what makes its sentence untrue; a longer one, or two, make it so whole."""
    text = (
        "The mill was sold in 1988. Its wheel is made of oak.\n"
        "- It was then rebuilt by a baker who came from a town far away in 1990. Both are big and ancient."
    )
    marks = [
        _mark(text, "1988", "Evident Conflict"),
        _mark(text, "then rebuilt by a baker who came from a town far", "Subtle Baseless Info"),
        _mark(text, "big", "Evident Baseless Info", implicit_true=True),
        _mark(text, "ancient", "Evident Conflict"),
    ]
    folder = _ragtruth(
        tmp_path,
        [
            {"source_id": "1", "response": text, "labels": marks},
            {
                "source_id": "2",
                "response": "Unable to answer based on given passages.",
                "labels": [],
            },
            {"source_id": "2", "response": TRUE, "labels": [], "split": "train"},
            {"source_id": "2", "response": TRUE, "labels": [], "quality": "truncated"},
            {"source_id": "2", "response": TRUE, "labels": []},
            {"source_id": "3", "response": TRUE, "labels": []},
        ],
    )
    data = published_pairs("ragtruth", folder)
    first, second, third, fourth, passages, table = data.rows()
    assert (first.label, first.false, first.source) == ("contradicted", "1988", "ragtruth_summary")
    assert (second.hypothesis, second.label) == ("Its wheel is made of oak.", "entailed")
    assert third.hypothesis.startswith("It was then rebuilt")  # without the mark of the list
    assert (third.label, third.false) == ("not_enough_info", "")
    assert (fourth.label, fourth.false) == ("contradicted", "")
    assert passages.premise == f"{MILL}\n\nMore."
    assert table.premise.splitlines() == [
        "name: Mill Inn",
        "hours, Monday: 9:0-17:0",
        "attributes, WiFi: unknown",
        "attributes, OutdoorSeating: yes",
        "business stars: 1.0",
        "review info, 1, review stars: 0",
    ]
    assert data.left_out.total() == 3


def test_ragtruth_by_the_response(tmp_path: Path) -> None:
    """As the paper counts: one row, contradicted where any mark is a conflict."""
    text = "The mill was sold in 1988. Its wheel is made of oak."
    marks = [_mark(text, "1988", "Evident Conflict")]
    folder = _ragtruth(
        tmp_path / "dataset",
        [
            {"source_id": "1", "response": text, "labels": marks},
            {"source_id": "1", "response": text, "labels": []},
        ],
    )
    for path in (folder, folder.parent, folder / "response.jsonl"):
        whole, fine = _read("ragtruth-responses", path)
        assert (whole.hypothesis, whole.label, whole.false) == (text, "contradicted", "1988")
        assert (fine.label, fine.false) == ("entailed", "")


def test_ragtruth_that_does_not_fit_is_named(tmp_path: Path) -> None:
    """A mark outside the text, a source that is not there, a file that is not there."""
    mark = {"start": 3, "end": 99, "text": "x", "label_type": "Evident Conflict"}
    _ragtruth(tmp_path, [{"source_id": "1", "response": TRUE, "labels": [mark]}])
    with pytest.raises(InputError, match=r"response.jsonl, line 1: the mark from 3 to 99"):
        _read("ragtruth", tmp_path)
    _ragtruth(tmp_path, [{"source_id": "8", "response": TRUE, "labels": []}])
    with pytest.raises(InputError, match=r"line 1: source_id: source_info.jsonl has no '8'"):
        _read("ragtruth", tmp_path)
    (tmp_path / "source_info.jsonl").unlink()
    with pytest.raises(InputError, match=r"source_info.jsonl: is not there"):
        _read("ragtruth", tmp_path)


def _annotation(text: str, words: str, *labels: str) -> dict[str, object]:
    start = text.index(words)
    return {
        "annot_id": 1,
        "annotator_id": "a",
        "annotator_name": "A",
        "label": list(labels),
        "note": "",
        "summary_span": words,
        "summary_start": start,
        "summary_end": start + len(words),
        "source_span": None,
    }


def test_faithbench_takes_the_worst_mark_and_leaves_out_the_benign(tmp_path: Path) -> None:
    """Marks of two annotators that overlap are one; what is benign alone is neither true nor untrue."""
    text = "The mill was sold in 1988. Its wheel is of fine oak. It turns. It is a nice mill."
    marks = [
        _annotation(text, "in 1988", "Unwanted", "Unwanted.Intrinsic"),
        _annotation(text, "1988", "Questionable"),
        _annotation(text, "fine", "Benign"),
        _annotation(text, "nice", "Benign"),
        _annotation(text, "It is a", "Questionable"),
    ]
    sample = {"sample_id": 0, "source": MILL, "metadata": {"summarizer": "m"}}
    batch = {
        "samples": [
            sample | {"summary": text, "annotations": marks},
            sample | {"summary": TRUE, "annotations": []},
        ]
    }
    _json(tmp_path / "batch_1.json", batch)
    data = published_pairs("faithbench", tmp_path)
    assert [(row.hypothesis, row.label, row.false) for row in data.rows()] == [
        ("The mill was sold in 1988.", "not_entailed", "in 1988"),
        ("It turns.", "entailed", ""),
        ("It is a nice mill.", "not_entailed", "It is a"),
        (TRUE, "entailed", ""),
    ]
    assert data.left_out == Counter({"with nothing but benign marks": 1})
    whole, fine = _read("faithbench-summaries", tmp_path)
    assert (whole.hypothesis, whole.label, whole.false) == (text, "not_entailed", "")
    assert fine.label == "entailed"
    marks[0]["label"] = ["Wrong"]
    _json(tmp_path / "batch_1.json", batch)
    with pytest.raises(InputError, match=r"batch_1.json, entry 1: annotations.label: should be of"):
        _read("faithbench", tmp_path)


def test_scifact_pairs_a_claim_with_each_abstract_it_cites(tmp_path: Path) -> None:
    """An abstract that is cited and holds no evidence is not enough."""
    abstract = {"title": "On mills", "abstract": ["One. ", "Two."], "structured": False}
    _lines(tmp_path / "corpus.jsonl", *({"doc_id": n} | abstract for n in (4, 5, 6)))
    evidence = {
        "4": [{"sentences": [0], "label": "SUPPORT"}, {"sentences": [1], "label": "SUPPORT"}],
        "5": [{"sentences": [1], "label": "CONTRADICT"}],
    }
    claim = {"id": 1, "claim": TRUE, "evidence": evidence, "cited_doc_ids": [4, 5, 6]}
    path = _lines(tmp_path / "claims_dev.jsonl", claim)
    found = _read("scifact", tmp_path)
    assert [row.label for row in found] == ["entailed", "contradicted", "not_enough_info"]
    assert (found[0].premise, found[0].title) == ("One. Two.", "On mills")
    assert found == _read("scifact", path)
    _lines(path, claim | {"cited_doc_ids": [7]})
    with pytest.raises(InputError, match=r"line 1: document 7 is not in corpus.jsonl"):
        _read("scifact", tmp_path)
    _lines(path, claim | {"evidence": {"9" * 5000: evidence["4"]}})
    with pytest.raises(InputError, match=r"line 1: evidence: '9+' is no number of a document"):
        _read("scifact", tmp_path)
    _lines(path, {"id": 2, "claim": TRUE})
    with pytest.raises(InputError, match=r"claims_dev.jsonl, line 1: evidence: Field required"):
        _read("scifact", tmp_path)


def test_fever_takes_the_first_set_of_evidence_that_is_whole(tmp_path: Path) -> None:
    """Each sentence behind its page's title, without the marks of the tokenizer."""
    page = "Caf\u00e9_-LRB-film-RRB-"
    pages = [
        {"id": "", "text": "", "lines": ""},
        {"id": "Cafe\u0301_-LRB-film-RRB-", "text": "…", "lines":
         "0\tCaf\u00e9 -LRB- 2001 -RRB- is a film , says `` Lux '' .\tfilm\tFilm\n1\t\n2\tIt 's long .\t"},
    ]  # fmt: skip
    _lines(tmp_path / "wiki-pages" / "wiki-pages" / "wiki-001.jsonl", *pages)
    claims = [
        {"id": 1, "label": "SUPPORTS", "claim": "A", "verifiable": "VERIFIABLE",
         "evidence": [[[1, 1, "Gone", 0]], [[1, 2, page, 1]], [[1, 3, page, 0], [1, 3, page, 2]]]},
        {"id": 2, "label": "REFUTES", "claim": "B", "evidence": [[[1, 1, page, 0]]]},
        {"id": 3, "label": "REFUTES", "claim": "C", "evidence": [[[1, 1, page, 0], [1, 2, "Gone", 3]]]},
        {"id": 4, "label": "NOT ENOUGH INFO", "claim": "D", "evidence": [[[1, 1, None, None]]]},
    ]  # fmt: skip
    path = _lines(tmp_path / "shared_task_dev.jsonl", *claims)
    data = published_pairs("fever", tmp_path)
    steps: list[tuple[str, int, int]] = []
    first, second = data.rows(lambda *step: steps.append(step))
    assert steps == [("Reading pages", 1, 1)]
    title = "Caf\u00e9 (film)"
    assert (first.hypothesis, first.label, first.title) == ("A", "entailed", title)
    told = f"{title}: Caf\u00e9 (2001) is a film, says “Lux”."
    assert first.premise == f"{told}\n\n{title}: It's long."
    assert (second.hypothesis, second.label, second.premise) == ("B", "contradicted", told)
    assert sorted(data.left_out.values()) == [1, 1]
    assert list(published_pairs("fever", path).rows()) == [first, second]
    _lines(tmp_path / "train.jsonl", claims[0])
    with pytest.raises(InputError, match="holds 2 files of JSON Lines: name the file of claims"):
        published_pairs("fever", tmp_path)


def test_finfact_joins_what_the_fact_checkers_cite(tmp_path: Path) -> None:
    """Three labels; a claim without evidence is left out, and counted."""
    row = {"url": "", "author": "A", "posted": "05/04/2020", "sci_digest": [], "justification": [],
           "issues": ["Taxes"], "image_data": [], "visualization_bias": 0}  # fmt: skip
    found = [
        {"sentence": " The mill was sold. ", "hrefs": "x"},
        {"sentence": "In 1987.", "hrefs": ""},
    ]
    rows = [
        row | {"claim": claim, "label": label, "evidence": evidence}
        for claim, label, evidence in (
            (f" {TRUE}", "true", found),
            (UNTRUE, "false", found[:1]),
            (UNKNOWN, "neutral", found),
            (UNKNOWN, "true", []),
        )
    ]
    data = published_pairs("finfact", _json(tmp_path / "finfact.json", rows))
    pairs = list(data.rows())
    assert _told(pairs) == [
        (TRUE, "entailed", "finfact"),
        (UNTRUE, "contradicted", "finfact"),
        (UNKNOWN, "not_enough_info", "finfact"),
    ]
    assert pairs[0].premise == "The mill was sold.\n\nIn 1987."
    assert data.left_out == Counter({"without evidence": 1})


def test_numersense_says_each_number_in_figures(tmp_path: Path) -> None:
    """Its file has no line of names: the first row counts too."""
    path = tmp_path / "train.masked.tsv"
    rows = (
        ("A chair has <mask> legs.", "four"),
        ("It matters to <mask> one.", "no"),
        ("The shed holds less than <mask> chairs.", "ten"),
    )
    path.write_text("".join(f"{text}\t{word}\n" for text, word in rows), "utf-8")
    data = published_pairs("numersense", path)
    same, other = data.rows()
    assert (same.premise, same.hypothesis) == ("A chair has four legs.", "A chair has 4 legs.")
    assert (same.label, same.false) == ("entailed", "")
    assert (other.hypothesis, other.label, other.false) == (
        "A chair has 5 legs.",
        "not_entailed",
        "5",
    )
    assert sorted(data.left_out.values()) == [1, 1]


def _natural_question(
    name: str | int, sentences: Sequence[str], *selected: Sequence[str]
) -> dict[str, object]:
    passage = {"title": "Corrant", "text": " ".join(sentences), "sentences": list(sentences)}
    output: list[dict[str, object]] = [
        {"answer": "…", "selected_sentences": list(own), "meta": {"round": 2}} for own in selected
    ]
    nothing = [{"answer": None, "meta": None}]
    return {"id": name, "input": "when", "passages": [passage], "output": output or nothing}


def test_clapnq_marks_what_any_annotator_selected(tmp_path: Path) -> None:
    """Both files of a folder; no selection is a passage without the answer."""
    sentences = ["It was sold ( in 1987 ) .", "It 's made of oak .", "A guide shows it ."]
    _lines(
        tmp_path / "clapnq_dev_answerable.jsonl",
        _natural_question("-1", sentences, [f"{sentences[0]}&"], sentences[:1] + sentences[2:]),
        _natural_question("-2", sentences, ["Another sentence ."]),
    )
    _lines(tmp_path / "clapnq_dev_unanswerable.jsonl", _natural_question(7, sentences))
    (first, last), left_out = read_published_answers("clapnq", tmp_path)
    assert first.sentences == ("It was sold (in 1987).", "It's made of oak.", "A guide shows it.")
    assert (first.id, first.gold, last.id, last.gold) == ("-1", (0, 2), "7", ())
    assert left_out.total() == 1


def test_selqa_names_the_section(tmp_path: Path) -> None:
    """Answers are numbers of candidates; one that is not there is named."""
    row = {"question": "When was it sold?", "article": "Corrant", "section": "History",
           "topic": "ART", "q_types": ["when"], "is_paraphrase": False,
           "candidates": ["", "It was sold.", "It stands."], "answers": [2, 1]}  # fmt: skip
    path = _json(tmp_path / "selqa-ass-dev.json", [row, row | {"answers": [0]}])
    (found,), left_out = read_published_answers("selqa", path)
    assert (found.id, found.title, found.gold) == ("selqa-ass-dev-1", "Corrant › History", (1, 2))
    assert left_out.total() == 1
    _json(path, [row, row | {"answers": [3]}])
    with pytest.raises(InputError, match=r"entry 2: answers: names a candidate"):
        read_published_answers("selqa", path)


@pytest.mark.parametrize(
    ("name", "file", "text", "said"),
    [
        (
            "wice",
            "a.jsonl",
            '{"label": "true", "claim": "a", "evidence": []}',
            "line 1: label: Input",
        ),
        (
            "wice",
            "a.jsonl",
            '{"label": "supported", "evidence": []}',
            "line 1: claim: Field required",
        ),
        ("wice", "a.txt", "", "is none of .jsonl, .json, .csv"),
        ("qags", "a.jsonl", "{}\n", "line 1: article: Field required"),
        (
            "healthver",
            "a.csv",
            "evidence,claim,label\na,b,Maybe\n",
            "line 2: label: Input should be",
        ),
        ("healthver", "a.csv", "evidence,claim\na,b\n", "line 2: label: Field required"),
        ("healthver", "a.csv", "evidence,claim,label\na,b\n", "line 2: label: Field required"),
        ("healthver", "a.csv", "evidence,claim,label\n", "holds no rows"),
        ("healthver", "a.csv", 'evidence,claim,label\n,"b",Neutral\n', "holds no rows to measure"),
        ("summedits", "a.json", "[{", "is no JSON"),
        ("summedits", "a.json", "[" * 100_000, "is no JSON"),
        ("summedits", "a.json", '{"a": 1}', "holds no array of rows"),
        ("summedits", "a.json", "[]", "holds no rows"),
        ("summedits", "a.json", '[{"doc": "a"}]', "entry 1: summary: Field required"),
        ("finfact", "a.json", '[{"claim": "a", "label": "NEI"}]', "entry 1: label: Input should"),
        ("numersense", "a.tsv", "Four legs.\tfour\n", "line 1: sentence: should hold <mask>"),
        ("numersense", "a.tsv", "<mask> legs.\n", "line 1: target: Field required"),
        ("faithbench", "a.json", '{"a": 1}', "holds no array of rows under 'samples'"),
        ("faithbench", "a.json", "[7]", "entry 1: the row: "),
    ],
)
def test_what_is_no_row_is_one_line_that_names_it(
    tmp_path: Path, name: str, file: str, text: str, said: str
) -> None:
    """File, place and field."""
    path = tmp_path / file
    path.write_text(text, "utf-8")
    with pytest.raises(InputError) as raised:
        _read(name, path)
    assert said in str(raised.value)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", PAIR_FORMATS)
def test_what_is_not_there_or_not_text_is_one_line(tmp_path: Path, name: str) -> None:
    """A path of nothing, an empty folder, and bytes that are no text."""
    suffix = {
        "healthver": "csv",
        "attrscore": "csv",
        "llm-aggrefact": "parquet",
        "numersense": "tsv",
    }.get(name, "jsonl")
    if name in {"summedits", "faithbench", "faithbench-summaries", "finfact"}:
        suffix = "json"
    for path in (tmp_path / f"none.{suffix}", tmp_path):
        with pytest.raises(InputError):
            _read(name, path)
    path = tmp_path / f"bytes.{suffix}"
    path.write_bytes(b"\xff\xfe\x00broken")
    with pytest.raises(InputError):
        _read(name, path)


def test_an_unknown_format_lists_the_known_ones(tmp_path: Path) -> None:
    """For pairs and for questions."""
    with pytest.raises(InputError, match="'nli': take plain, attributionbench"):
        published_pairs("nli", tmp_path)
    with pytest.raises(InputError, match="'wice': take clapnq, plain, selqa"):
        read_published_answers("wice", tmp_path)
    assert ANSWER_FORMATS == ("clapnq", "plain", "selqa")


def test_every_format_is_in_the_documentation() -> None:
    """A line of the table for each."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "evaluation.md").read_text("utf-8")
    for name in {*PAIR_FORMATS, *ANSWER_FORMATS}:
        assert f"| `{name}`" in page, name


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("He said `` no '' , twice -- 3 % of it .", "He said “no”, twice -- 3% of it."),
        ("a one - year stay ( $ 40 ) did n't help", "a one-year stay ($40) didn't help"),
        ("It is plain text, as written.", "It is plain text, as written."),
    ],
)
def test_tokens_are_joined_as_people_write(tokens: str, text: str) -> None:
    """Brackets, quotes, hyphens and what stands before a comma."""
    assert joined_tokens(tokens) == text
