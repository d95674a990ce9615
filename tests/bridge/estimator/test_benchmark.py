"""What the benchmark compares does the same steps; its numbers are not judged here."""

from __future__ import annotations

import pytest

from tests.benchmarks.estimator import TARGETS, VARIANTS, WORKLOAD


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_times_each_round_and_pauses_after_it(variant: str) -> None:
    pauses: list[int] = []
    run = VARIANTS[variant](WORKLOAD, 3, 2, lambda: pauses.append(1))
    assert len(run.epochs) == len(pauses) == 2
    assert all(span.clock > 0 for span in run.epochs)


def test_every_target_compares_variants_that_exist() -> None:
    assert {name for pair in TARGETS for name in pair} == set(VARIANTS)
