"""Charts with a panel for each set, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Line:
    """Shares, from 0 to 1, by tokens."""

    label: str
    points: Sequence[tuple[float, float]]
    color: str | None
    is_default: bool = False


def draw(path: Path, panels: Mapping[str, Sequence[Line]], x_label: str, y_label: str, markers: str = "") -> None:
    """Writes a chart; ``markers`` is the sign at each point, in matplotlib's letters."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "bench"  # the same results give the same file
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot

    figure, rows = pyplot.subplots(
        1, len(panels), figsize=(4.8 * len(panels), 4.2), sharey=True, squeeze=False, layout="constrained"
    )
    for axes, (name, lines) in zip(rows[0], panels.items(), strict=True):
        for line in lines:
            axes.plot(
                [tokens for tokens, _ in line.points],
                [share * 100 for _, share in line.points],
                label=line.label,
                color=line.color,
                linewidth=2.4 if line.is_default else 1.6,
                marker=markers,
            )
        axes.set_title(f"{name[0].upper()}{name[1:]}", loc="left")
        axes.set_xlabel(x_label)
        axes.set_xlim(0, max(tokens for line in lines for tokens, _ in line.points) * 1.02)
        axes.set_ylim(0, 100)
        axes.grid(color="#e3e6ea", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    rows[0][0].set_ylabel(y_label)
    handles, labels = rows[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
