"""Figures from samples: medians, ratios of the same round, and targets, as a table."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterable

Samples = dict[str, list[float]]  # By variant, one number a round.


@dataclasses.dataclass(frozen=True)
class Figure:
    """One line of the table.

    Attributes:
      measure: What was measured, with its unit.
      workload: The network.
      variant: The way of training.
      median: Over the rounds.
      against: The variant that it is compared with, or None.
      ratio: Median of the rounds' ratios to it.
      cpu_ratio: Median of the ratios of CPU time, or None where that was not measured.
      low: The smallest of them.
      high: The largest of them.
      target: The ratio that is to be reached at most, or None.
    """

    measure: str
    workload: str
    variant: str
    median: float
    against: str | None = None
    ratio: float | None = None
    cpu_ratio: float | None = None
    low: float | None = None
    high: float | None = None
    target: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None without one."""
        return None if self.target is None or self.ratio is None else self.ratio <= self.target


def figures(
    measure: str,
    workload: str,
    samples: Samples,
    targets: dict[tuple[str, str], float],
    cpu: Samples | None = None,
) -> list[Figure]:
    """Compares the variants of one measurement.

    Args:
      measure: What was measured, with its unit.
      workload: The network.
      samples: The measurements.
      targets: From a variant and the one that it is compared with to the ratio that is to be reached. Every other
        variant is compared with the first one of the same kind of data.
      cpu: The same measurements in CPU time.

    Returns:
      A figure for each variant and comparison.
    """
    found: list[Figure] = []
    for variant, values in samples.items():
        median = statistics.median(values)
        base = ", ".join([next(iter(samples)), *variant.split(", ")[1:]])
        others = [base, *(other for one, other in targets if one == variant and other != base)]
        if variant == base:
            found.append(Figure(measure, workload, variant, median))
            continue
        for other in others:
            ratios = _ratios(samples, variant, other)
            found.append(
                Figure(
                    measure,
                    workload,
                    variant,
                    median,
                    against=other,
                    ratio=statistics.median(ratios),
                    cpu_ratio=statistics.median(_ratios(cpu, variant, other)) if cpu else None,
                    low=min(ratios),
                    high=max(ratios),
                    target=targets.get((variant, other)),
                )
            )
    return found


def _ratios(samples: Samples, variant: str, other: str) -> list[float]:
    return [value / base for value, base in zip(samples[variant], samples[other], strict=True)]


def table(lines: Iterable[Figure]) -> str:
    """Formats figures for people.

    Args:
      lines: The figures; those of one measure and network follow each other.

    Returns:
      The table's text.
    """
    rows = [("", "median", "ratio", "min-max", "CPU", "to", "target", "")]
    heads: dict[int, str] = {}
    seen: tuple[str, str] | None = None
    for line in lines:
        if (line.measure, line.workload) != seen:
            seen = (line.measure, line.workload)
            heads[len(rows)] = f"{line.workload}: {line.measure}"
        rows.append(_row(line))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    text: list[str] = []
    for number, row in enumerate(rows):
        if number in heads:
            text += ["", heads[number]]
        cells = [
            f"  {row[0]:<{widths[0]}}",
            *(f"{cell:>{width}}" for cell, width in zip(row[1:5], widths[1:5], strict=True)),
        ]
        cells += [f"{cell:<{width}}" for cell, width in zip(row[5:], widths[5:], strict=True)]
        text.append("  ".join(cells).rstrip())
    return "\n".join(text)


def _row(line: Figure) -> tuple[str, ...]:
    digits = 0 if line.median >= 100 else 3
    cells = [line.variant, f"{line.median:.{digits}f}"]
    if line.ratio is None:
        return (*cells, "", "", "", "", "", "")
    cpu = "" if line.cpu_ratio is None else f"{line.cpu_ratio:.2f}"
    cells += [f"{line.ratio:.2f}", f"{line.low:.2f}-{line.high:.2f}", cpu, str(line.against)]
    if line.target is None:
        return (*cells, "", "")
    return (*cells, f"<= {line.target:.2f}", "met" if line.met else "MISSED")


def summary(lines: Iterable[Figure]) -> str:
    """Says in one line how many targets are reached."""
    judged = [line for line in lines if line.met is not None]
    missed = [f"{line.workload} {line.variant} ({line.measure})" for line in judged if not line.met]
    text = f"{len(judged) - len(missed)} of {len(judged)} targets met."
    return f"{text} Missed: {'; '.join(missed)}." if missed else text
