"""The styles of systems, the same in every chart and table, distinct even without colour."""

from __future__ import annotations

from dataclasses import dataclass

# Each is at least three times as bright, or as dark, as the page in light and in dark; the baseline
# is grey.
COLOURS = ("#7b828c", "#3f7be0", "#d2691e", "#2a9461", "#a25fd0", "#d8485a", "#1a93a0", "#8f8118")
DASHES = {"dot": "2 3", "solid": "", "dash": "8 4", "dashdot": "8 3 2 3", "longdash": "12 4"}
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "star", "triangle-down", "pentagon")


@dataclass(frozen=True)
class Style:
    """The colour, dash and symbol of a system."""

    colour: str
    dash: str
    symbol: str

    @property
    def dashes(self) -> str:
        """The dash as lengths, for SVG."""
        return DASHES[self.dash]


def system_style(index: int) -> Style:
    """Return the style of the system at a position of the comparison.

    No other system is grey as the baseline is.
    """
    colour = 1 + (index - 1) % (len(COLOURS) - 1) if index else 0
    return Style(COLOURS[colour], list(DASHES)[index % len(DASHES)], SYMBOLS[index % len(SYMBOLS)])


OTHER = Style("rgba(128,136,147,0.42)", "solid", "circle")
"""The style of systems without their own."""
