"""The plot of a question-answering sweep."""

from __future__ import annotations

import io
from pathlib import Path

from worldthread.files.paths import write_private_file
from worldthread_lab.bench.qa.groups import ConfigurationGroup
from worldthread_lab.bench.qa.personalai import UNRESTRICTED, personalai


def plot(group: ConfigurationGroup, path: Path) -> None:
    """Write an SVG with a panel for each data set: every configuration with its interval, by model."""
    import matplotlib
    from matplotlib.figure import Figure

    datasets, models = group.datasets, group.models
    places = [place for place in personalai() if any((c.algorithm, c.restriction) == place for c in group.cells)]
    with matplotlib.rc_context({"svg.hashsalt": "worldthread", "font.size": 9}):
        figure = Figure(figsize=(9, 0.8 + 2.8 * len(datasets)), layout="constrained")
        panels = figure.subplots(len(datasets), 1, sharex=True, squeeze=False)[:, 0]
        for panel, dataset in zip(panels, datasets, strict=True):
            for shift, model in enumerate(models):
                cells = {
                    (c.algorithm, c.restriction): c.figures
                    for c in group.cells
                    if (c.dataset, c.model) == (dataset, model) and c.figures[group.metric] is not None
                }
                at = [place for place in range(len(places)) if places[place] in cells]
                values = [cells[places[place]][group.metric] for place in at]
                ends = [cells[places[place]][f"{group.metric}_interval"] for place in at]
                low = [value - end[0] for value, end in zip(values, ends, strict=True)]
                high = [end[1] - value for value, end in zip(values, ends, strict=True)]
                moved = [place + 0.15 * (shift - (len(models) - 1) / 2) for place in at]
                panel.errorbar(moved, values, yerr=[low, high], fmt="o", markersize=4, capsize=2, label=model)
            panel.set_title(dataset, loc="left")
            panel.set_ylim(bottom=0)
            panel.set_ylabel(group.metric_description)
            panel.spines[["top", "right"]].set_visible(False)
        names = [name if restriction == UNRESTRICTED else f"{name} / {restriction}" for name, restriction in places]
        panels[-1].set_xticks(range(len(places)), names, rotation=60, ha="right")
        panels[0].legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=len(models))
        image = io.BytesIO()
        figure.savefig(image, format="svg", metadata={"Date": None, "Creator": None})
    write_private_file(path, image.getvalue())
