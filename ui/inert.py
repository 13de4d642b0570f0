"""The one drawing path for text from outside: inert HTML inside our own boxes.

Nothing else in the app calls `st.html` on changing text. `Markup` is made here only, from
constants, `inert_html`, `highlight_html` and numbers (tests/architecture/test_drawing.py).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NewType

import streamlit as st

from certirag.render import (
    AnswerReport,
    highlight_html,
    inert_slice,
    oddities,
    plain_report,
    visible,
    visible_characters,
)
from certirag.render import inert_html as inert_html_in_english
from ui.language import language, say, tr

if TYPE_CHECKING:
    from ui.drawn import BadgeLike, FindingLike, QuotedLike, ShapeLike, StatementLike, StretchLike

inert_html = partial(inert_html_in_english, told=say)
Markup = NewType("Markup", str)
# What a text is to the reader; each is a class in assets/style.css.
Role = Literal["claim", "question", "lead", "note", "reason", "passage", "record", "error"]

STYLE: Final = Path(__file__).resolve().parent.parent / "assets" / "style.css"
# Streamlit sets the colour scheme on the page and not on its dialogs, which lie outside it.
_SCHEME: Final = "<style>.stDialog { color-scheme: light; }</style>"
SCHEMES: Final = {"light": _SCHEME, "dark": _SCHEME.replace("light", "dark")}
# A longer text is cut off in view and says so: it must not push what we say off the page.
MAX_LINES: Final = 40
MAX_LABEL: Final = 120
COPY_HEIGHT: Final = 320  # pixels
# What the smallest box of a text shows without scrolling, on a page of 320 px: lines, letters in each.
LINES_IN_SIGHT: Final = 12
NARROW_LINE: Final = 26
MAX_ENTRY: Final = 280


def draw_style() -> None:
    """Put the app's own style sheet on the page, and the reader's scheme on the drawer."""
    st.html(STYLE)
    st.html(SCHEMES["dark" if st.context.theme.type == "dark" else "light"])


def draw_text(text: str, role: Role, *, max_lines: int = MAX_LINES, told: bool = False) -> None:
    """Draw *text* as it is, in a box of its own, with a caption for what was made plain.

    What is *told* is read out by a screen reader as soon as it appears; errors always are.
    """
    _put(_block_markup(text, role, max_lines, told), _oddities_markup([text]))


def tell(text: str) -> None:
    """Have *text* read out by a screen reader where the page shows it in a way that is silent."""
    _put(Markup(f'<div class="cr-told" role="status">{inert_html(say(text))}</div>'))


def draw_claim_text(text: str, differing: Sequence[tuple[int, int]]) -> None:
    """Draw a claim with the ranges (code points) marked that a passage has otherwise."""
    _put(
        Markup(
            '<div class="cr-inert cr-inert--claim" dir="auto">'
            f"{highlight_html(text, (), differing)}</div>"
        ),
        _oddities_markup([text]),
    )


def draw_lines(lines: Iterable[str]) -> None:
    """Draw a list with one item per line of text."""
    items = Markup("".join(_item_markup(line) for line in lines))
    _put(Markup(f'<ul class="cr-list">{_ready(items)}</ul>'))


def draw_status(badge: BadgeLike) -> None:
    """Draw the badge's own icon and word where no button is wanted."""
    _put(
        Markup(
            f'<span class="cr-status cr-status--{inert_html(badge.kind)}">'
            f"{inert_label(badge)}</span>"
        )
    )


def inert_label(badge: BadgeLike) -> Markup:
    """Return the label of a badge of the gate; its three spellings are the gate's constants."""
    return _gate_markup(badge.label_in(language()))


def draw_place(title: str, *facts: str, numbers: Iterable[int] = ()) -> None:
    """Draw where evidence comes from: its title, *facts* such as the page, its sources' numbers."""
    marks = "".join(
        f'<span class="cr-number" title="{inert_html(tr("Source {n:d}", n=n))}">{n:d}</span>'
        for n in numbers
    )
    _put(
        Markup(
            f'<div class="cr-place">📄 {_ready(_facts_markup((title, *facts)))}'
            f"{_ready(Markup(marks))}</div>"
        )
    )


def draw_copyable(report: AnswerReport) -> None:
    """Draw *report* as plain text with a button that copies it; no language, so no colours."""
    st.code(plain_report(report), language=None, wrap_lines=True, height=COPY_HEIGHT)


def draw_quote(
    text: str,
    spans: Sequence[tuple[int, int]],
    *,
    title: str,
    facts: Sequence[str],
    differing: Sequence[tuple[int, int]] = (),
) -> None:
    """Draw a chunk's *text* in a quote box with *spans* (code points) highlighted in it.

    *differing* are the places inside a span that a claim has otherwise.
    """
    _put(
        Markup(
            f'<figure class="cr-quote"><figcaption class="cr-quote-from">{inert_html(tr("Quoted from"))} '
            f"{_ready(_title_markup(title))}</figcaption>"
            f'<blockquote class="cr-inert cr-inert--quote" dir="auto"{_reach_markup(text)}>'
            f"{highlight_html(text, spans, differing)}</blockquote>"
            f'<div class="cr-facts">{_ready(_facts_markup(facts))}</div></figure>'
        ),
        _oddities_markup([text, title]),
    )


def draw_heading(text: str, level: int) -> None:
    """Draw a heading of a document, *level* from 3 (below our own) on."""
    _put(Markup(f'<h{level:d} class="cr-heading">{_ready(_title_markup(text))}</h{level:d}>'))


def draw_passage(
    text: str,
    shapes: Iterable[ShapeLike],
    marks: Sequence[tuple[int, int]],
    *,
    facts: Sequence[str],
) -> None:
    """Draw a passage's *text* by its *shapes*, the code points of *marks* marked in it."""
    shown = visible_characters(text)
    body = Markup("".join(_shape_markup(shown, shape, marks) for shape in shapes))
    _put(
        Markup(
            f'<section class="cr-read"><div class="cr-read-text">{_ready(body)}</div>'
            f'<div class="cr-facts">{_ready(_facts_markup(facts))}</div></section>'
        ),
        _oddities_markup([text]),
    )


def draw_digest(text: str) -> None:
    """Draw *text* in a box of its own with a button that copies it."""
    st.code(visible(text), language=None, wrap_lines=True)


def draw_picture(
    png: bytes,
    boxes: Sequence[tuple[float, float, float, float]],
    *,
    page: int,
    caption: str,
) -> None:
    """Draw a *page* that we rendered, *boxes* (left, top, width, height, per cent) marked."""
    marks = "".join(
        f'<i style="left:{left:.2f}%;top:{top:.2f}%;width:{width:.2f}%;height:{height:.2f}%"></i>'
        for left, top, width, height in boxes
    )
    _put(
        Markup(
            f'<figure class="cr-quote"><figcaption class="cr-quote-from">{inert_html(caption)}'
            f'</figcaption><div class="cr-page">'
            f'<img src="data:image/png;base64,{inert_html(b64encode(png).decode("ascii"))}" '
            f'alt="{inert_html(tr("Page {page:d} of the document", page=page))}">'
            f"{_ready(Markup(marks))}</div></figure>"
        )
    )


def draw_draft(text: str, stretches: Iterable[StretchLike], badges: Iterable[BadgeLike]) -> None:
    """Draw a whole draft, its *stretches* marked, over a key to the *badges* of its marks."""
    shown = visible_characters(text)
    parts = Markup("".join(_stretch_markup(shown, stretch) for stretch in stretches))
    key = Markup(
        "".join(
            f'<span class="cr-mark cr-mark--{inert_html(badge.kind)}">{inert_label(badge)}</span>'
            for badge in badges
        )
    )
    _put(
        Markup(
            '<div class="cr-inert cr-draft" dir="auto" role="group" '
            f'aria-label="{inert_html(tr("The draft"))}" tabindex="0">{_ready(parts)}</div>'
            f'<div class="cr-key">{_ready(key)}</div>'
        ),
        _oddities_markup([text]),
    )


def draw_number(number: int) -> None:
    """Draw the number of a statement, as it stands in the draft."""
    _put(Markup(f'<span class="cr-number">{number:d}</span>'))


def draw_findings(findings: Iterable[tuple[str, FindingLike]]) -> None:
    """Draw (title, finding) pairs as a list: pass or fail in words, the rule, its reason."""
    items = "".join(_finding_markup(title, finding) for title, finding in findings)
    _put(Markup(f'<ul class="cr-rules">{_ready(Markup(items))}</ul>'))


def draw_way(stops: Iterable[tuple[str, Sequence[tuple[str, str]]]]) -> None:
    """Draw named boxes one behind the other, each with its (text, note) entries."""
    drawn = [(name, tuple(entries)) for name, entries in stops]
    boxes = Markup("".join(_stop_markup(name, entries) for name, entries in drawn))
    texts = [text for _, entries in drawn for entry in entries for text in entry]
    _put(Markup(f'<ol class="cr-way">{_ready(boxes)}</ol>'), _oddities_markup(texts))


def draw_steps(steps: Iterable[tuple[str, str, bool]]) -> None:
    """Draw (stage, what it decided, whether it failed here) in order; none has a colour of a state."""
    drawn = tuple(steps)
    items = Markup("".join(_step_markup(*step) for step in drawn))
    _put(
        Markup(f'<ol class="cr-rules">{_ready(items)}</ol>'),
        _oddities_markup([s[1] for s in drawn]),
    )


def draw_rules(rules: Iterable[tuple[str, str]]) -> None:
    """Draw (title, words) pairs: what each rule asks."""
    items = "".join(
        f'<li class="cr-rule"><div><span class="cr-rule-name">{inert_html(say(title))}</span>'
        f'<span class="cr-inert cr-inert--line">{inert_html(say(words))}</span></div></li>'
        for title, words in rules
    )
    _put(Markup(f'<ol class="cr-rules">{_ready(Markup(items))}</ol>'))


def draw_meter(name: str, score: float, limit: float) -> None:
    """Draw a score in [0, 1] as a neutral bar with a tick at the policy's threshold."""
    share, tick = (min(max(value, 0.0), 1.0) * 100 for value in (score, limit))
    _put(
        Markup(
            '<div class="cr-meter"><div class="cr-meter-text">'
            f"<span>{inert_html(name)} <b>{score:.2f}</b></span>"
            f"<span>{inert_html(tr('threshold'))} {limit:.2f}</span></div>"
            f'<div class="cr-meter-bar"><i style="width:{share:.1f}%"></i>'
            f'<u style="left:{tick:.1f}%"></u></div></div>'
        )
    )


def draw_facts(pairs: Iterable[tuple[str, str]]) -> None:
    """Draw (name, value) pairs as a quiet definition list."""
    rows = "".join(
        f"<div><dt>{inert_html(say(name))}</dt><dd>{inert_html(say(value))}</dd></div>"
        for name, value in pairs
    )
    _put(Markup(f'<dl class="cr-dl">{_ready(Markup(rows))}</dl>'))


def draw_table(headers: Sequence[str], rows: Iterable[Sequence[str | QuotedLike]]) -> None:
    """Draw a plain table; every cell is inert, numbers have no colour."""
    head = "".join(f'<th scope="col">{inert_html(header)}</th>' for header in headers)
    body = "".join(_row_markup(headers, row) for row in rows)
    _put(_table_markup(Markup(head), Markup(body)))


def _put(*parts: Markup) -> None:
    st.html("".join(parts))


def _ready(markup: Markup) -> Markup:
    """Mark where finished markup enters a template, so that the lint can see it."""
    return markup


def _block_markup(text: str, role: Role, max_lines: int, told: bool) -> Markup:
    live = Markup(' role="alert"' if role == "error" else ' role="status"' if told else "")
    return Markup(
        f'<div class="cr-inert cr-inert--{inert_html(role)}" dir="auto"{_ready(live)}'
        f"{_reach_markup(text)}>"
        f"{inert_html(say(text), max_lines=max_lines)}</div>"
    )


def _reach_markup(text: str) -> Markup:
    """Let the keyboard reach the box of *text*, and scroll it, if it may overflow a narrow one."""
    lines = sum(1 + len(line) // NARROW_LINE for line in text.split("\n"))
    return Markup(' tabindex="0"' if lines > LINES_IN_SIGHT else "")


def _shape_markup(
    shown: Sequence[str], shape: ShapeLike, marks: Sequence[tuple[int, int]]
) -> Markup:
    """Return a part of a passage as paragraph, list, plain lines or table."""
    tags = {
        "paragraph": (Markup("p"), Markup("span")),
        "list": (Markup("ul"), Markup("li")),
        "lines": (Markup("div"), Markup("div")),
        "table": (Markup("tr"), Markup("td")),
    }
    outer, inner = tags[shape.kind]
    rows = [
        Markup(
            "".join(
                f"<{_ready(inner)}>{_ready(_cell_markup(shown, cell, marks))}</{_ready(inner)}>"
                for cell in row
            )
        )
        for row in shape.rows
    ]
    if shape.kind != "table":
        return Markup(f"<{_ready(outer)}>{_ready(Markup(''.join(rows)))}</{_ready(outer)}>")
    return _table_markup(
        Markup(
            "".join(f'<th scope="col">{_ready(_text_markup(name))}</th>' for name in shape.names)
        ),
        Markup("".join(f"<tr>{_ready(row)}</tr>" for row in rows)),
    )


def _table_markup(head: Markup, body: Markup) -> Markup:
    return Markup(
        f'<div class="cr-table" role="group" aria-label="{inert_html(tr("Table"))}" tabindex="0"><table>'
        f"<thead><tr>{_ready(head)}</tr></thead>"
        f"<tbody>{_ready(body)}</tbody></table></div>"
    )


def _text_markup(text: str | QuotedLike) -> Markup:
    """Return a text, or a statement with what differs marked and its gate's badge behind it."""
    if isinstance(text, str):
        return Markup(f'<span class="cr-inert" dir="auto">{inert_html(say(text))}</span>')
    words = Markup(highlight_html(text.statement.words, (), text.differing))
    note = _note_markup(text.statement)
    return Markup(f'<span class="cr-inert" dir="auto">{_ready(words)}</span>{_ready(note)}')


def _cell_markup(
    shown: Sequence[str], cell: tuple[int, int], marks: Sequence[tuple[int, int]]
) -> Markup:
    """Return *cell*, a range of *shown*, with what of *marks* lies in it marked."""
    at, end = cell
    parts = []
    for start, stop in sorted(marks):
        first, last = max(start, at), min(stop, end)
        if first < last:
            marked = Markup(f"<mark>{inert_slice(shown, first, last)}</mark>")
            parts.append(f"{inert_slice(shown, at, first)}{_ready(marked)}")
            at = last
    words = Markup(f"{_ready(Markup(''.join(parts)))}{inert_slice(shown, at, end)}")
    return Markup(f'<span class="cr-inert" dir="auto">{_ready(words)}</span>')


def _item_markup(line: str) -> Markup:
    return Markup(
        f'<li><span class="cr-inert cr-inert--line" dir="auto">{inert_html(say(line))}</span></li>'
    )


def _stretch_markup(shown: Sequence[str], of: StretchLike) -> Markup:
    """Return a part of a draft; our own notes stand in boxes of their own behind it."""
    words = Markup(inert_slice(shown, of.start, of.end))
    notes = Markup("".join(_note_markup(statement) for statement in of.ending))
    if of.badge is None:
        return Markup(f"{_ready(words)}{_ready(notes)}")
    how = Markup("cr-mark" if of.literal else "cr-mark cr-mark--read")
    return Markup(
        f'<mark class="{_ready(how)} cr-mark--{inert_html(of.badge.kind)}">{_ready(words)}</mark>'
        f"{_ready(notes)}"
    )


def _note_markup(of: StatementLike) -> Markup:
    """Return a statement's number, its state by icon and word, and what else is said of it."""
    badge, word = of.badge, _gate_markup(of.badge.word_in(language()))
    state = f'{_gate_markup(badge.icon)}<span class="cr-word"> {_ready(word)}</span>'
    remark = f" {inert_html(say(of.remark))}" if of.remark else ""
    return Markup(
        f'<sup class="cr-note cr-note--{inert_html(badge.kind)}">{of.number:d} '
        f"{_ready(Markup(state if of.counted else ''))}{_ready(Markup(remark))}</sup>"
    )


def _gate_markup(word: str) -> Markup:
    """Return a spelling of the gate's own badge, whose marks `inert_html` would make plain."""
    return Markup(word.replace("&", "&amp;").replace("<", "&lt;"))


def _row_markup(headers: Sequence[str], row: Sequence[str | QuotedLike]) -> Markup:
    cells = ""
    for name, cell in zip(headers, row, strict=True):
        cells += f'<td data-name="{inert_html(name)}">{_ready(_text_markup(cell))}</td>'
    return Markup(f"<tr>{_ready(Markup(cells))}</tr>")


def _title_markup(title: str) -> Markup:
    short = title if len(title) <= MAX_LABEL else title[:MAX_LABEL] + "…"
    return Markup(f'<bdi class="cr-inert cr-inert--title">{inert_html(short, max_lines=2)}</bdi>')


def _facts_markup(facts: Sequence[str]) -> Markup:
    return Markup(
        '<span class="cr-dot"> · </span>'.join(_title_markup(say(fact)) for fact in facts)
    )


def _finding_markup(title: str, finding: FindingLike) -> Markup:
    passed = finding.passed is True
    mark, word = Markup("pass" if passed else "fail"), tr("pass") if passed else tr("fail")
    return Markup(
        f'<li class="cr-rule cr-rule--{_ready(mark)}"><span class="cr-rule-mark">{inert_html(word)}'
        f'</span><div><span class="cr-rule-name">{inert_html(title)}</span>'
        f'<span class="cr-inert cr-inert--line" dir="auto">{inert_html(say(finding.reason))}</span>'
        "</div></li>"
    )


def _stop_markup(name: str, entries: Sequence[tuple[str, str]]) -> Markup:
    items = Markup("".join(_entry_markup(text, note) for text, note in entries))
    return Markup(
        f'<li class="cr-stop"><div class="cr-stop-name">{inert_html(name)}</div>{_ready(items)}</li>'
    )


def _entry_markup(text: str, note: str) -> Markup:
    text, note = say(text), say(note)
    short = text if len(text) <= MAX_ENTRY else text[:MAX_ENTRY] + "…"
    said = Markup(
        f'<div class="cr-inert cr-inert--entry" dir="auto">{inert_html(short, max_lines=6)}</div>'
    )
    noted = Markup(
        f'<div class="cr-inert cr-inert--beside" dir="auto">{inert_html(note, max_lines=4)}</div>'
    )
    return Markup(f"{_ready(said if text else Markup(''))}{_ready(noted if note else Markup(''))}")


def _step_markup(stage: str, words: str, failed: bool) -> Markup:
    here = Markup(f'<span class="cr-step-here">{inert_html(tr("failed here"))}</span>')
    return Markup(
        f'<li class="cr-rule"><div><span class="cr-rule-name">{inert_html(stage)}'
        f"{_ready(here if failed else Markup(''))}</span>"
        f'<span class="cr-inert cr-inert--line" dir="auto">{inert_html(say(words))}</span>'
        "</div></li>"
    )


def _oddities_markup(texts: Sequence[str]) -> Markup:
    """Say under a text what was made plain in it, or nothing."""
    lines = dict.fromkeys(line for text in texts for line in oddities(text))
    return Markup("".join(f'<div class="cr-odd">{inert_html(say(line))}</div>' for line in lines))
