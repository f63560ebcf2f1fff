"""`fscontract matrix`: what it takes, what it refuses in one line, and its page."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from tests.contract.cli.test_main import error, run
from tests.contract.report.matrices import judged, report, save


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty directory."""
    monkeypatch.chdir(tmp_path)


def saved(data: Any, name: str = "a.json") -> str:
    """A report in the current directory."""
    return save(Path(name), data)


def test_it_prints_markdown(tmp_path: Path) -> None:
    """Return the output without a file option."""
    saved(judged({"seek.zero": "pass"}, "store"))
    result = run("matrix", "a.json", "--title", "Mine")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("# Mine\n")
    assert "| store | store | stream | default |" in result.stdout


def test_columns_are_in_the_order_of_the_arguments() -> None:
    """And have the names that were given; a file of that name comes first."""
    for name in ("a.json", "b.json", "x=c.json"):
        saved(judged({"seek.zero": "pass"}, name), name)
    result = run("matrix", "Bee=b.json", "x=c.json", "a.json", "--all")
    assert "| Clause | Level | Bee | x=c.json | a.json |" in result.stdout


def test_a_list_gives_a_column_for_each_target() -> None:
    """With the given name before each."""
    saved([judged({}, "one"), judged({}, "two")])
    result = run("matrix", "L=a.json")
    assert "| L: one |" in result.stdout
    assert "| L: two |" in result.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty, expected JSON"),
        ("[" * 100_000, "line 1, column 65: nested more than 64 levels deep"),
        (json.dumps([report()]), "a list of one report"),
        ("7", "top level: 7 is not of type 'object'"),
        ("{}", "'fscontract' is a required property"),
        (json.dumps({**report(), "effort": "huge"}), "effort: 'huge' is not one of"),
        (json.dumps({**report(), "fscontract": "9.1", "new": 1}), r"written by 9\.1, this is 0"),
        (json.dumps([report(), {**report(), "seed": "x"}]), r"\[1\]\.seed: 'x' is not of type"),
        (
            json.dumps(report() | {"clauses": judged({"a": "pass"})["clauses"] * 2}),
            "duplicate a",
        ),
        (json.dumps(judged({"a": "fail"}) | {"conforms": True}), "its clauses contradict it"),
    ],
)
def test_a_file_that_is_no_report_is_refused(text: str, said: str) -> None:
    """In one line with its name; nothing is written."""
    Path("bad.json").write_text(text)
    line = error("matrix", "bad.json", "--markdown", "m.md")
    assert line.startswith("bad.json: ")
    assert re.search(said, line), line
    assert len(line) < 400
    assert not Path("m.md").exists()


def test_files_that_can_not_be_read_are_named() -> None:
    """duplicate report: A missing one, one that is not text, and one that."""
    Path("b.json").write_bytes(b"\xff\xfe\xff")
    saved(report())
    assert error("matrix", "none.json") == snapshot("none.json: No such file or directory")
    assert error("matrix", "b.json") == snapshot("b.json: line 1, byte 1: not UTF-8 text")
    assert error("matrix", "a.json", "a.json") == "duplicate report: a.json"
    assert error("matrix", "a.json", "--findings", "f.md") == snapshot(
        "f.md: No such file or directory"
    )
    assert error("matrix", "a.json", "--html", "m", "--markdown", "m").startswith("two reports")


def test_strict_wants_a_finding_for_all_that_is_broken() -> None:
    """And says for what there is none."""
    saved(judged({"seek.zero": "known"}, "store", "F2"))
    Path("f.md").write_text("### F1 What is wrong\n")
    lax = run("matrix", "a.json", "--findings", "f.md")
    strict = run("matrix", "a.json", "--findings", "f.md", "--strict")
    assert (lax.exit_code, strict.exit_code) == (0, 1)
    assert strict.stderr == snapshot("without a finding: store: seek.zero: F2: not in f.md\n")
    assert "| store | seek.zero | ◆ known | returned 7 | F2: not in f.md |" in lax.stdout
    Path("f.md").write_text("### F2 What is wrong\n")
    assert run("matrix", "a.json", "--findings", "f.md", "--strict").exit_code == 0


def test_links_lead_from_where_the_output_is() -> None:
    """Not from where the command runs."""
    saved(judged({"seek.zero": "known"}, "store", "F1"))
    Path("out").mkdir()
    Path("f.md").write_text("### F1 What is wrong\n")
    result = run("matrix", "a.json", "--findings", "f.md", "--markdown", "out/m.md")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "[F1](../f.md#f1-what-is-wrong)" in Path("out/m.md").read_text()


class Page(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(Path(path).read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\x00\ud800"


@pytest.fixture
def page() -> Page:
    """Return the page of a report with hostile texts."""
    data = judged({"seek.zero": "known", "seek.noop": "pass", HOSTILE: "fail"}, HOSTILE, HOSTILE)
    data |= {"binding": HOSTILE, "profile": HOSTILE, "versions": {HOSTILE: HOSTILE}}
    for clause in data["clauses"]:
        clause["reason"] = HOSTILE
        if clause["counterexample"]:
            clause["counterexample"]["actual"] = HOSTILE
    saved(data)
    result = run("matrix", "a.json", "--html", "m.html", "--title", HOSTILE.replace("\x00", ""))
    assert result.exit_code == 0, result.output
    return Page("m.html")


def test_hostile_texts_are_escaped(page: Page) -> None:
    """The page has the tags of its template alone."""
    assert len(page.all("script")) == 1
    assert page.all("img") == []
    assert not any(name.startswith("on") for _, found in page.tags for name in found)
    assert "alert(1)" in page.text


def test_the_page_loads_nothing(page: Page) -> None:
    """Neither by a tag nor by what its policy permits."""
    assert page.all("link") == []
    assert not any("src" in found for _, found in page.tags)
    assert "@import" not in page.text
    assert "url(" not in page.text
    (policy,) = [m["content"] for m in page.all("meta") if "http-equiv" in m]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def test_the_page_has_every_row_with_its_outcomes_in_words(page: Page) -> None:
    """The rows can be linked to, and filtered by what they say."""
    rows = [row for row in page.all("tr") if "data-text" in row]
    assert sorted(str(row["data-outcomes"]) for row in rows) == ["fail", "known", "pass"]
    assert "clause-seek.zero" in {row["id"] for row in rows}
    assert "◆ known" in page.text
    assert "✓ pass" in page.text


def test_the_page_links_to_findings() -> None:
    """And only to web addresses and findings."""
    saved(judged({"seek.zero": "known"}, "store", "F1 https://x/y javascript:alert(1)"))
    Path("f.md").write_text("### F1 What is wrong\n")
    assert run("matrix", "a.json", "--html", "m.html", "--findings", "f.md").exit_code == 0
    found = {a["href"] for a in Page("m.html").all("a")}
    assert found == {"f.md#f1-what-is-wrong", "https://x/y", "#clause-seek.zero"}
