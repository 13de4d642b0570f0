"""Where things are on a PDF page as it is shown, and the straight lines drawn on it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pypdfium2.raw as pdfium

_MOST_SEGMENTS: Final = 20_000  # of one path: charts have more, and no table needs as many


@dataclass(frozen=True, slots=True)
class Ruling:
    """A drawn line, horizontal or vertical."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def vertical(self) -> bool:
        """Whether it is higher than wide."""
        return self.top - self.bottom > self.right - self.left


@dataclass(frozen=True, slots=True)
class PageFrame:
    """The shown part of a page: crop box in user space and clockwise rotation in quarter turns."""

    left: float
    bottom: float
    right: float
    top: float
    turns: int

    @property
    def size(self) -> tuple[float, float]:
        width, height = self.right - self.left, self.top - self.bottom
        return (height, width) if self.turns % 2 else (width, height)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the shown place of a point of user space."""
        x, y = x - self.left, y - self.bottom
        width, height = self.right - self.left, self.top - self.bottom
        return ((x, y), (y, width - x), (width - x, height - y), (height - y, x))[self.turns]

    def box(
        self, left: float, bottom: float, right: float, top: float
    ) -> tuple[float, float, float, float]:
        """Return the shown box of a box of user space."""
        (x0, y0), (x1, y1) = self.place(left, bottom), self.place(right, top)
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def rulings_of(page: Any, frame: PageFrame) -> Iterator[Ruling]:
    """Yield drawn horizontal and vertical lines, edges of rectangles among them."""
    for item in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_PATH], max_depth=3):
        matrix = item.get_matrix()
        points: list[tuple[float, float]] = []
        for index in range(min(pdfium.FPDFPath_CountSegments(item.raw), _MOST_SEGMENTS)):
            segment = pdfium.FPDFPath_GetPathSegment(item.raw, index)
            kind = pdfium.FPDFPathSegment_GetType(segment)
            x, y = ctypes.c_float(), ctypes.c_float()
            pdfium.FPDFPathSegment_GetPoint(segment, x, y)
            point = frame.place(*matrix.on_point(x.value, y.value))
            if kind == pdfium.FPDF_SEGMENT_MOVETO:
                points = [point]
                continue
            if kind == pdfium.FPDF_SEGMENT_LINETO and points:
                yield from _straight(points[-1], point)
            points.append(point)
            if pdfium.FPDFPathSegment_GetClose(segment):
                yield from _straight(point, points[0])


def _straight(one: tuple[float, float], other: tuple[float, float]) -> Iterator[Ruling]:
    left, right = sorted((one[0], other[0]))
    bottom, top = sorted((one[1], other[1]))
    long, thin = max(right - left, top - bottom), min(right - left, top - bottom)
    if long > 6 and thin < 1:
        yield Ruling(left, bottom, right, top)
