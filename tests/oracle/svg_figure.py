"""What a figure's SVG says: its plots with their axes, and the numbers that the marks stand for."""
import dataclasses
import itertools
import json
import math
import re
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"


@dataclasses.dataclass
class Axis:
    scale: str
    low: float
    high: float
    start: float
    end: float

    @classmethod
    def parse(cls, text):
        scale, *numbers = text.split()
        return cls(scale, *map(float, numbers))

    def _place(self, value):
        if self.scale == "log":
            return math.log(value)
        if self.scale.startswith("symlog:"):
            linear = float(self.scale.split(":")[1])
            return value / linear if abs(value) <= linear else math.copysign(1 + math.log10(abs(value) / linear), value)
        return value

    def value(self, pixel):
        low, high = self._place(self.low), self._place(self.high)
        place = low + (pixel - self.start) / (self.end - self.start) * (high - low)
        if self.scale == "log":
            return math.exp(place)
        if self.scale.startswith("symlog:"):
            linear = float(self.scale.split(":")[1])
            return place * linear if abs(place) <= 1 else math.copysign(linear * 10 ** (abs(place) - 1), place)
        return place

    def off(self, value, expected):
        """How far apart two values are, in parts of the axis."""
        return abs(self._place(value) - self._place(expected)) / abs(self._place(self.high) - self._place(self.low))


@dataclasses.dataclass
class Series:
    quantity: str
    head: str
    name: str
    marks: list  # elements


class Plot:
    def __init__(self, element):
        self.element, self.id, self.kind = element, element.get("id"), element.get("data-kind")
        self.x = Axis.parse(element.get("data-x")) if element.get("data-x") else None
        self.y = Axis.parse(element.get("data-y")) if element.get("data-y") else None
        self.series = [Series(g.get("data-quantity", ""), g.get("data-head", ""), g.get("data-name", ""), list(g))
                       for g in element.iter(SVG + "g") if g.get("class") == "series"]

    def named(self, name, head=None):
        found = [s for s in self.series if s.name == name and head in (None, s.head)]
        assert len(found) == 1, f"{len(found)} series {name!r} of {head} among {[(s.name, s.head) for s in self.series]}"
        return found[0]

    def points(self, series):
        """[(x, y)] of discs and rings."""
        return [(self.x.value(float(mark.get("cx"))), self.y.value(float(mark.get("cy")))) for mark in series.marks
                if mark.tag == SVG + "circle"]

    def line(self, series):
        """[(x, y)] of the corners of the series' lines, one after the other."""
        corners = []
        for mark in series.marks:
            if mark.tag == SVG + "path":
                for corner in mark.get("d").replace("M", " L").replace("Z", "").split("L")[1:]:
                    x, y = map(float, corner.split())
                    corners.append((self.x.value(x), self.y.value(y)))
        return corners


class Figure:
    def __init__(self, path):
        self.root = xml.parse(path).getroot()
        self.plots = [Plot(g) for g in self.root.iter(SVG + "g") if g.get("data-kind")]
        self.width, self.height = self.root.get("width"), self.root.get("height")
        self.title = self.root.findtext(SVG + "title")
        self.description = self.root.findtext(SVG + "desc")
        self.keys = json.loads(self.root.findtext(SVG + "metadata"))
        self.texts = [(p.get("aria-label"), float(p.get("data-size"))) for p in self.root.iter(SVG + "path") if p.get("aria-label")]

    def plot(self, kind, place=0):
        return [p for p in self.plots if p.kind == kind][place]


LEAST_IN_GREY = 0.15  # of OKLab's lightness, which of a grey is the cube root of its luminance


def lightness(color):
    """Ottosson 2020, of a grey; sRGB (IEC 61966-2-1)."""
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
              for value in (int(color[at:at + 2], 16) / 255 for at in (1, 3, 5))]
    return (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]) ** (1 / 3)


def lines_of(plot):
    """{(series, dashes): lightness}: of lines through a plot; roots and arcs of single pairs are none."""
    found = {}
    for series in plot.series:
        for mark in series.marks:
            if mark.tag != SVG + "path" or mark.get("fill") != "none" or float(mark.get("stroke-width")) < 0.45 or "→" in series.head:
                continue
            if len(re.findall("[ML]", mark.get("d"))) > 1:
                found[series.name, series.head, mark.get("stroke"), mark.get("stroke-dasharray")] = lightness(mark.get("stroke"))
    return found


def alike_in_grey(figure):
    """Pairs of lines of a plot that print without colours does not tell apart."""
    pairs = []
    for plot in figure.plots:
        for (one, a), (other, b) in itertools.combinations(lines_of(plot).items(), 2):
            if one[3] == other[3] and one[2] != other[2] and abs(a - b) < LEAST_IN_GREY:
                pairs.append((plot.id, one, other, round(abs(a - b), 3)))
    return pairs
