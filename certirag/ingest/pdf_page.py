"""Read one PDF page with PDFium: words with their places, what a reader cannot see, rulings.

All coordinates are points from the bottom left of the page as it is shown (crop box and page
rotation applied). Callers hold `read_pdf`'s lock: PDFium is not thread-safe.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import pypdfium2.raw as pdfium

from certirag.ingest.extract import raised
from certirag.ingest.pdf_frame import PageFrame, Ruling, rulings_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SMALLEST: Final = 3.0  # points: nobody reads smaller text
_NEAR_WHITE: Final = 0.92  # luminance, 0 to 1
_FAINTEST: Final = 0.04  # difference in luminance below which text does not show
_MOST_PIXELS: Final = 3_000_000
_UPRIGHT: Final = 0.15  # radians that an upright line may lean
_SPACE: Final = 0.28  # of the font size: a gap this wide parts words even without a space
_INVISIBLE_MODES: Final = frozenset({3, 7})  # neither filled nor stroked; clip only
_HYPHEN_MARK: Final = "\x02"  # PDFium's sign for a hyphen at the end of a line
SOFT_HYPHEN: Final = "\u00ad"


@dataclass(frozen=True, slots=True)
class Char:
    """One character: *base* is the baseline's height, *angle* the slant in radians."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    base: float
    size: float
    bold: bool
    luminance: float
    shown: bool
    angle: float


@dataclass(frozen=True, slots=True)
class PdfWord:
    """Characters without white space, in the order of the page's content stream."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    base: float
    size: float
    bold: bool


@dataclass(frozen=True, slots=True)
class PageText:
    """A page: the words that show, those that do not, slanted text, and its rulings."""

    number: int
    width: float
    height: float
    words: tuple[PdfWord, ...]
    hidden: tuple[PdfWord, ...]
    slanted: tuple[PdfWord, ...]
    rulings: tuple[Ruling, ...]


def read_page(page: Any, number: int) -> PageText:
    """Return what the pypdfium2 *page* with the 1-based *number* holds."""
    left, bottom, right, top = page.get_cropbox()
    frame = PageFrame(left, bottom, right, top, (page.get_rotation() // 90) % 4)
    width, height = frame.size
    text_page = page.get_textpage()
    try:
        chars = list(_chars(text_page.raw, frame))
    finally:
        text_page.close()
    light = _rendered(page, width, height) if chars else None
    chars = [c if _stands_out(c, light, height) else replace(c, shown=False) for c in chars]
    shown = _words([c for c in chars if c.shown and (c.text.isspace() or not _leans(c))])
    inked = [_has_ink(word, light, height) for word in shown]
    hidden = _words([c for c in chars if not c.shown or c.text.isspace()])
    hidden += [word for word, ink in zip(shown, inked, strict=True) if not ink]
    return PageText(
        number=number,
        width=width,
        height=height,
        words=tuple(word for word, ink in zip(shown, inked, strict=True) if ink),
        hidden=tuple(hidden),
        slanted=tuple(_slanted([c for c in chars if c.shown and _leans(c)])),
        rulings=tuple(rulings_of(page, frame)),
    )


def _chars(raw: Any, frame: PageFrame) -> Iterator[Char]:
    styles: dict[int | None, tuple[bool, bool, float, float]] = {}
    width, height = frame.size
    turn = frame.turns * math.pi / 2
    for index in range(pdfium.FPDFText_CountChars(raw)):
        code = pdfium.FPDFText_GetUnicode(raw, index)
        if code == 0 or code > 0x10FFFF:
            continue
        text = chr(code)
        box = _char_box(raw, index, frame)
        holder = pdfium.FPDFText_GetTextObject(raw, index)
        key = ctypes.cast(holder, ctypes.c_void_p).value if holder else None
        if key not in styles:
            styles[key] = _style(raw, index, holder)  # one text object has one style
        bold, drawn, luminance, size = styles[key]
        middle_x, middle_y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        inside = 0 <= middle_x <= width and 0 <= middle_y <= height
        # A space has no ink and PDFium makes some up: it can neither show nor hide.
        shown = text.isspace() or (drawn and inside and size >= _SMALLEST)
        angle = pdfium.FPDFText_GetCharAngle(raw, index) + turn
        angle = (angle + math.pi) % (2 * math.pi) - math.pi
        yield Char(text, *box, _base(raw, index, frame, box), size, bold, luminance, shown, angle)


def _char_box(raw: Any, index: int, frame: PageFrame) -> tuple[float, float, float, float]:
    loose = pdfium.FS_RECTF()
    if pdfium.FPDFText_GetLooseCharBox(raw, index, loose) and loose.right > loose.left:
        return frame.box(loose.left, loose.bottom, loose.right, loose.top)
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    pdfium.FPDFText_GetCharBox(raw, index, left, right, bottom, top)
    return frame.box(left.value, bottom.value, right.value, top.value)


def _base(raw: Any, index: int, frame: PageFrame, box: tuple[float, float, float, float]) -> float:
    x, y = ctypes.c_double(), ctypes.c_double()
    if not pdfium.FPDFText_GetCharOrigin(raw, index, x, y):
        return box[1]
    return frame.place(x.value, y.value)[1]


def _font_size(raw: Any, index: int) -> float:
    """Return the size in points on the page: a matrix may shrink a large font to nothing."""
    matrix = pdfium.FS_MATRIX()
    scale = 1.0
    if pdfium.FPDFText_GetMatrix(raw, index, matrix):
        scale = math.hypot(matrix.c, matrix.d)
    return float(pdfium.FPDFText_GetFontSize(raw, index)) * scale


def _style(raw: Any, index: int, holder: Any) -> tuple[bool, bool, float, float]:
    """Return (bold, painted, luminance, size in points) for the text object of one character."""
    mode = pdfium.FPDFTextObj_GetTextRenderMode(holder) if holder else 0
    buffer, flags = ctypes.create_string_buffer(256), ctypes.c_int()
    length = pdfium.FPDFText_GetFontInfo(raw, index, buffer, 256, flags)
    font = buffer.raw[: max(0, min(length, 256))].lower()
    heavy = any(word in font for word in (b"bold", b"black", b"heavy", b"semib"))
    bold = heavy or pdfium.FPDFText_GetFontWeight(raw, index) >= 600
    luminance, opaque = _fill(raw, index)
    painted = mode not in _INVISIBLE_MODES and opaque
    return bold, painted, luminance, _font_size(raw, index)


def _fill(raw: Any, index: int) -> tuple[float, bool]:
    """Return (luminance of the fill colour from 0 to 1, is it opaque enough to see)."""
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not pdfium.FPDFText_GetFillColor(raw, index, red, green, blue, alpha):
        return 0.0, True
    luminance = (0.299 * red.value + 0.587 * green.value + 0.114 * blue.value) / 255
    return luminance, alpha.value >= 16


def _rendered(page: Any, width: float, height: float) -> NDArray[np.uint8]:
    """Return the page as grey pixels, shape (rows, columns), at most about one a point."""
    scale = min(1.0, math.sqrt(_MOST_PIXELS / max(width * height, 1.0)))
    bitmap = page.render(scale=scale, grayscale=True)
    try:
        pixels: NDArray[np.uint8] = bitmap.to_numpy().copy()
    finally:
        bitmap.close()
    return pixels.reshape(pixels.shape[0], pixels.shape[1])


def _crop(
    item: Char | PdfWord, light: NDArray[np.uint8], height: float, margin: float
) -> NDArray[np.uint8]:
    scale = light.shape[0] / height if height else 1.0
    rows = slice(
        max(0, int((height - item.top - margin) * scale)),
        max(0, math.ceil((height - item.bottom + margin) * scale)),
    )
    left = max(0, int((item.left - margin) * scale))
    return light[rows, left : max(0, math.ceil((item.right + margin) * scale))]


def _stands_out(char: Char, light: NDArray[np.uint8] | None, height: float) -> bool:
    """Say whether near-white text has a darker ground; other colours are `_has_ink`'s."""
    if light is None or char.luminance < _NEAR_WHITE or char.text.isspace():
        return True
    around = _crop(char, light, height, margin=1.0)
    if not around.size:
        return False
    ground = sorted(around.flatten().tolist())[around.size // 3]
    return bool(char.luminance - ground / 255 > 0.25)


def _has_ink(word: PdfWord, light: NDArray[np.uint8] | None, height: float) -> bool:
    """Say whether the rendered page shows anything at all where the word should be."""
    if light is None:
        return True
    area = _crop(word, light, height, margin=0.0)
    return bool(area.size) and int(area.max()) - int(area.min()) > _FAINTEST * 255


def _words(chars: Sequence[Char]) -> list[PdfWord]:
    words: list[PdfWord] = []
    run: list[Char] = []
    for char in chars:
        blank = char.text.isspace() or (ord(char.text) < 0x20 and char.text != _HYPHEN_MARK)
        if run and (blank or not _same_word(run, char)):
            words.append(_word(run))
            run = []
        if not blank:
            run.append(char)
    return [*words, _word(run)] if run else words


def _same_word(run: Sequence[Char], char: Char) -> bool:
    last, first = run[-1], run[0]
    size = max(first.size, char.size)
    gap = char.left - last.right
    return abs(char.base - first.base) < 0.6 * size and -0.6 * size < gap < _SPACE * size


def _word(run: Sequence[Char]) -> PdfWord:
    main = max(run, key=lambda char: char.size)
    parts, high = [], ""
    for char in run:
        text = {_HYPHEN_MARK: "-", "\ufffe": "-"}.get(char.text, char.text)
        lifted = char.base - main.base > 0.18 * main.size and char.size < 0.85 * main.size
        if lifted:
            high += text
            continue
        parts += [raised(high), text]
        high = ""
    box = (
        min(c.left for c in run),
        min(c.bottom for c in run),
        max(c.right for c in run),
        max(c.top for c in run),
    )
    bold = sum(c.bold for c in run) * 2 > len(run)
    return PdfWord("".join([*parts, raised(high)]), *box, main.base, main.size, bold)


def _leans(char: Char) -> bool:
    return char.text.isspace() or abs(char.angle) > _UPRIGHT


def _slanted(chars: Sequence[Char]) -> Iterator[PdfWord]:
    """Yield the words of text that runs at an angle; only spaces part them."""
    run: list[Char] = []
    for char in chars:
        if not char.text.isspace():
            run.append(char)
        elif run:
            yield replace(_word(run), text="".join(c.text for c in run))
            run = []
    if run:
        yield replace(_word(run), text="".join(c.text for c in run))
