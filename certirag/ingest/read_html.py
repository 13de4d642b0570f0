"""Read HTML with lxml: headings, paragraphs, lists and tables that a reader of the page sees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from lxml import etree
from PIL import ImageColor

from certirag.errors import IngestError
from certirag.ingest.extract import Extract, Outline, clean, raised, words
from certirag.ingest.tables import has_header, span_width, table_lines

_UNREAD: Final = words(
    "script style template noscript nav svg math iframe object embed canvas audio video select "
    "button textarea datalist dialog map picture img input meta link base del s strike head rt rp "
    "frame frameset noframes noembed applet area title"
)
_INLINE: Final = words(
    "a abbr acronym b bdi bdo big cite code data dfn em font i ins kbd label mark meter output q "
    "ruby rb samp small span strong sub sup time tt u var wbr progress center"
)
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_TERM_LEVEL: Final = 7  # a term of a definition list heads its definitions
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
# One that is never closed runs to the end, as in a browser; else each would be looked for again.
_STYLE_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_SIMPLE_SELECTOR = re.compile(r"([a-zA-Z][\w-]*)?([.#][\w-]+)?")
_HIDES = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|opacity\s*:\s*0?\.?0*[0-4]?\s*%?(?![\d.])"
    r"|font-size\s*:\s*(?:[012](?:\.\d+)?px|[012](?:\.\d+)?pt|0?\.[01]\d*r?em|0[a-z%]*)\s*(?:;|!|$)"
    r"|(?:text-indent|left|top|margin-left|margin-top)\s*:\s*-\d{3,}"
    r"|clip(?:-path)?\s*:\s*(?:rect\(\s*[01]|inset\(\s*(?:50|100)%)"
    r"|color\s*:\s*transparent)",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"(?:^|;)\s*color\s*:\s*([^;!]+)", re.IGNORECASE)
_BACKGROUND = re.compile(r"(?:^|;)\s*background(?:-color)?\s*:\s*([^;!]+)", re.IGNORECASE)
_ALPHA = re.compile(r"rgba?\(\s*([\d.]+%?)[\s,]+([\d.]+%?)[\s,]+([\d.]+%?)[^)]*\)", re.IGNORECASE)
_LONGEST_COLOUR: Final = 100  # characters; what is longer is none
_UNSEEN_BELOW: Final = 24  # of 255, in each of red, green and blue: text and ground look alike


def read_html(text: str, *, name: str) -> Extract:
    """Return the readable blocks of an HTML *text*; IngestError (with *name*) if it cannot be read.

    Nothing is fetched and no entity is declared or expanded beyond HTML's own. What a browser
    would not show (hidden attributes, simple style rules that hide, struck-out text) is left out.
    """
    # The declaration names the encoding of the bytes, which this text no longer has.
    source = _XML_DECLARATION.sub("", text, count=1).replace("\x00", "�")
    parser = etree.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=False
    )
    root = etree.fromstring(source.encode("utf-8", "replace"), parser)
    if root is None:
        raise IngestError(f"{name}: holds no HTML; give a file with text")
    if any("depth" in entry.message.lower() for entry in parser.error_log):
        raise IngestError(f"{name}: elements are nested too deeply to read; simplify the file")
    reader = _Reader(root)
    reader.read(root)
    title = root.findtext("head/title") or ""
    return reader.outline.extract(title=title, media_type="text/html")


class _Reader:
    """Walks the tree once; *buffer* holds the text since the last block began."""

    def __init__(self, root: etree._Element) -> None:
        self.outline = Outline()
        self._buffer: list[str] = []
        self._rules = _hiding_rules(root)
        self._items = 0

    def read(self, element: etree._Element) -> None:
        """Read *element* and what is in it (its depth is bounded by the parser)."""
        tag = _tag(element)
        if tag in _UNREAD or self._hidden(element):
            return
        if tag == "table":
            self._flush()
            self._table(element)
        elif tag in _HEADINGS or tag == "dt":
            self._flush()
            level = _HEADINGS.get(tag, _TERM_LEVEL)
            self.outline.heading(self._inline_text(element), level=level)
        elif tag == "br":
            self._buffer.append("\n")
        elif tag == "sup":
            self._buffer.append(raised(self._inline_text(element)))
        elif tag in _INLINE:
            self._children(element)
        else:
            self._block(element, tag)

    def _block(self, element: etree._Element, tag: str) -> None:
        self._flush()
        self._items += tag == "li"
        self._children(element)
        self._flush()
        self._items -= tag == "li"
        if tag == "dl":
            self.outline.close(_TERM_LEVEL)

    def _children(self, element: etree._Element) -> None:
        self._buffer.append(element.text or "")
        for child in element:
            self.read(child)
            self._buffer.append(child.tail or "")

    def _flush(self) -> None:
        text = "".join(self._buffer)
        self._buffer.clear()
        self.outline.add("list_item" if self._items else "paragraph", text)

    def _inline_text(self, element: etree._Element) -> str:
        """Return all readable text below *element*, blocks apart by a space."""
        parts = [element.text or ""]
        for child in element:
            tag = _tag(child)
            if tag not in _UNREAD and not self._hidden(child):
                inner = self._inline_text(child)
                inline = tag in _INLINE
                parts.append(raised(inner) if tag == "sup" else inner if inline else f" {inner} ")
            parts.append(child.tail or "")
        return "".join(parts)

    def _hidden(self, element: etree._Element) -> bool:
        attributes = element.attrib
        if "hidden" in attributes or str(attributes.get("aria-hidden", "")).lower() == "true":
            return True
        style = _style(element)
        if _HIDES.search(style) or _in_its_ground(element, style):
            return True
        if not self._rules:
            return False
        names = [f".{name}" for name in str(attributes.get("class", "")).split()]
        names.append(f"#{attributes.get('id', '')}")
        tag = _tag(element)
        return any(rule in self._rules for name in ["", *names] for rule in (name, tag + name))

    def _table(self, table: etree._Element) -> None:
        rows = [row for row in _own_rows(table) if not self._hidden(row)]
        cells = [[cell for cell in row if _tag(cell) in {"td", "th"}] for row in rows]
        widest = max((len(row) for row in cells), default=0)
        layout = str(table.get("role", "")).lower() in {"presentation", "none"}
        if layout or widest < 2 or table.find(".//table") is not None:
            self._children(table)
            self._flush()
            return
        captions = [c for c in table if _tag(c) == "caption" and not self._hidden(c)]
        caption = clean(self._inline_text(captions[0])) if captions else ""
        self.outline.caption(caption)
        grid = self._grid(cells)
        for _, line in table_lines(grid, header_rows=_header_rows(rows, cells, grid)):
            self.outline.add("table_row", line, caption=caption)

    def _grid(self, rows: Sequence[Sequence[etree._Element]]) -> list[list[str]]:
        """Return the cells' texts; a cell over several rows, or a heading over columns, repeats."""
        grid: list[list[str]] = []
        pending: dict[int, tuple[int, str]] = {}
        for row in rows:
            texts: list[str] = []
            for cell in row:
                _fill(texts, pending)
                text = "" if self._hidden(cell) else self._inline_text(cell)
                down = span_width(cell.get("rowspan")) - 1
                for step in range(span_width(cell.get("colspan"))):
                    shown = text if step == 0 or _tag(cell) == "th" else ""
                    if down:
                        pending[len(texts)] = (down, shown)
                    texts.append(shown)
            _fill(texts, pending)
            grid.append(texts)
        return grid


def _fill(texts: list[str], pending: dict[int, tuple[int, str]]) -> None:
    while len(texts) in pending:
        left, text = pending.pop(len(texts))
        if left > 1:
            pending[len(texts)] = (left - 1, text)
        texts.append(text)
        if left > 1:
            continue


def _own_rows(table: etree._Element) -> Iterator[etree._Element]:
    for child in table:
        if _tag(child) == "tr":
            yield child
        elif _tag(child) in {"thead", "tbody", "tfoot"}:
            yield from (row for row in child if _tag(row) == "tr")


def _header_rows(
    rows: Sequence[etree._Element],
    cells: Sequence[Sequence[etree._Element]],
    grid: Sequence[Sequence[str]],
) -> int:
    count = 0
    for row, own in zip(rows, cells, strict=True):
        in_head = _tag(row.getparent()) == "thead"
        if not in_head and not (own and all(_tag(cell) == "th" for cell in own)):
            break
        count += 1
    return count if count < len(rows) and count else int(not count and has_header(grid))


def _tag(element: etree._Element | None) -> str:
    return element.tag.lower() if element is not None and isinstance(element.tag, str) else ""


def _in_its_ground(element: etree._Element, style: str) -> bool:
    """Say whether the element's text has the colour of what it stands on, white unless said."""
    own = _COLOUR.search(style)
    ink = _rgb(own.group(1) if own else str(element.get("color", "")))
    if ink is None:
        return False
    ground: tuple[int, ...] | None = (255, 255, 255)
    for above in (element, *element.iterancestors()):
        said = _BACKGROUND.search(_style(above))
        words_ = said.group(1) if said else str(above.get("bgcolor", ""))
        if words_.strip():
            ground = _rgb(words_)
            break
    return ground is not None and all(
        abs(a - b) < _UNSEEN_BELOW for a, b in zip(ink, ground, strict=True)
    )


def _style(element: etree._Element) -> str:
    return _STYLE_COMMENT.sub(" ", str(element.get("style", "")))


def _rgb(colour: str) -> tuple[int, ...] | None:
    """Return red, green and blue of a CSS colour, None where it cannot be told."""
    plain = " ".join(colour.split())[:_LONGEST_COLOUR]
    opaque = _ALPHA.sub(r"rgb(\1,\2,\3)", plain)
    try:
        return ImageColor.getrgb(opaque)[:3]
    except ValueError:
        return None


def _hiding_rules(root: etree._Element) -> frozenset[str]:
    """Return the plain selectors (tag, .class, #id, or tag with one) whose style rule hides."""
    found: set[str] = set()
    for sheet in root.iter("style"):
        for rule in _STYLE_COMMENT.sub("", sheet.text or "").split("}")[:-1]:
            before, opened, declarations = rule.rpartition("{")
            selectors = before.rpartition("{")[2] if opened else ""
            # White text on a page whose colours come from elsewhere may well be readable.
            if not _HIDES.search(declarations):
                continue
            names = (selector.strip() for selector in selectors.split(","))
            found.update(name for name in names if name and _SIMPLE_SELECTOR.fullmatch(name))
    return frozenset(found)
