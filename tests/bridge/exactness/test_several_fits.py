"""A HookCallback may serve any number of fits, with other calls of the model and other compilations in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.bridge.exactness import cases, data, models
from tests.bridge.exactness.cases import BOTH, KERAS
from tests.bridge.exactness.running import Hooks, assert_same, outcome, seed

Fit = Callable[..., Any]
Story = Callable[[Any, Fit], Iterator[Any]]

ASKS = ("loss", "dense/output", "gradients/dense_1/kernel", "learning_rate")


def _arrays(k: Any) -> dict[str, Any]:
    return {**data.arrays(k), "epochs": 2}


def _compiled(k: Any, model: Any, optimizer: Any = None, **options: Any) -> Any:
    options = {"jit_compile": False, "loss": "mse", "metrics": ["mae"], **options}
    model.compile(optimizer or k.optimizers.Adam(0.01), **options)
    return model


def _without_kernel_state(k: Any) -> Any:
    """A model for a mixture of training with and without hooks.

    The Dropout of tf_keras keeps its random state in the compiled function's kernels. What Keras's own function has
    there, no other function can take over.
    """
    return models.normed(k) if k.__name__ == KERAS else models.undropped(k)


def three_fits_of_which_one_has_hooks(k: Any, fit: Fit) -> Iterator[Any]:
    model = _compiled(k, _without_kernel_state(k))
    for _ in range(3):
        yield model, fit(model, **_arrays(k))


def three_fits(k: Any, fit: Fit) -> Iterator[Any]:
    model = _compiled(k, models.normed(k))
    for _ in range(3):
        yield model, fit(model, **_arrays(k))


def three_fits_with_kernel_random_state(k: Any, fit: Fit) -> Iterator[Any]:
    """The state of TensorFlow's own random operations goes on from fit to fit."""
    model = _compiled(k, models.noisy(k))
    for _ in range(3):
        yield model, fit(model, **_arrays(k))


def initial_epoch(k: Any, fit: Fit) -> Iterator[Any]:
    model = _compiled(k, models.normed(k))
    yield model, fit(model, **_arrays(k))
    yield model, fit(model, **{**_arrays(k), "epochs": 4, "initial_epoch": 2})


def compiled_again(k: Any, fit: Fit) -> Iterator[Any]:
    model = _compiled(k, models.normed(k))
    yield model, fit(model, **_arrays(k))
    _compiled(k, model, k.optimizers.SGD(0.02, momentum=0.9), loss="mae", steps_per_execution=2)
    yield model, fit(model, **_arrays(k))


def same_optimizer_compiled_again(k: Any, fit: Fit) -> Iterator[Any]:
    model = _compiled(k, models.normed(k))
    yield model, fit(model, **_arrays(k))
    _compiled(k, model, model.optimizer, metrics=["mse"])
    yield model, fit(model, **_arrays(k))


def trainable_toggled(k: Any, fit: Fit) -> Iterator[Any]:
    model = _compiled(k, models.normed(k))
    yield model, fit(model, **_arrays(k))
    for trainable in (False, True):
        model.layers[0].trainable = trainable
        model.layers[1].trainable = trainable
        _compiled(k, model)
        yield model, fit(model, **_arrays(k))


def other_batch_shapes(k: Any, fit: Fit) -> Iterator[Any]:
    model = _compiled(k, models.normed(k))
    yield model, fit(model, **data.full_batches(k))
    yield model, fit(model, **data.from_generator(k), steps_per_epoch=4)
    yield model, fit(model, **data.weighted(k))


def evaluation_and_prediction_between(k: Any, fit: Fit) -> Iterator[Any]:
    model = _compiled(k, _without_kernel_state(k))
    given = data.arrays(k)
    yield model, fit(model, **_arrays(k))
    yield model, model.evaluate(given["x"], given["y"], verbose=0)
    yield model, model.predict(given["x"], verbose=0)
    yield model, model.train_on_batch(given["x"][:8], given["y"][:8])
    yield model, fit(model, **data.validated(k))


def weights_and_rate_set_between(k: Any, fit: Fit) -> Iterator[Any]:
    model = _compiled(k, models.normed(k))
    yield model, fit(model, **_arrays(k))
    model.set_weights([w * 0.5 for w in model.get_weights()])
    model.optimizer.learning_rate = 0.1
    yield model, fit(model, **_arrays(k))


def two_models_in_turn(k: Any, fit: Fit) -> Iterator[Any]:
    first, second = _compiled(k, models.normed(k)), _compiled(k, models.undropped(k))
    for model in (first, second, first):
        yield model, fit(model, **_arrays(k))


STORIES = [
    three_fits,
    three_fits_with_kernel_random_state,
    initial_epoch,
    compiled_again,
    same_optimizer_compiled_again,
    trainable_toggled,
    other_batch_shapes,
    evaluation_and_prediction_between,
    weights_and_rate_set_between,
    two_models_in_turn,
]


def _told(k: Any, story: Story, callbacks: Callable[[], list[Any]]) -> list[Any]:
    """Runs a story; after each chapter, everything is written down."""

    def fit(model: Any, **arguments: Any) -> Any:
        return model.fit(**{"verbose": 0, **arguments}, callbacks=callbacks())

    seed(k)
    chapters: list[Any] = []
    for model, result in story(k, fit):
        if hasattr(result, "history"):
            chapters.append(outcome(model, result))
        else:
            chapters.append(np.array(result))
    return chapters


def _assert_same_chapters(plain: list[Any], hooked: list[Any]) -> None:
    for expected, found in zip(plain, hooked, strict=True):
        if isinstance(expected, np.ndarray):
            np.testing.assert_array_equal(found, expected)
        else:
            assert_same(expected, found)


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__.replace("_", "-"))
def test_one_callback_serves_several_fits(flavour: str, story: Story, tmp_path: Path) -> None:
    k = cases.package(flavour)
    asks = ASKS if story is not three_fits_with_kernel_random_state else (*ASKS[:2], ASKS[3])
    hooks = Hooks(tmp_path, asks)
    callback = hooks.callback()
    _assert_same_chapters(_told(k, story, list), _told(k, story, lambda: [callback]))
    hooks.check_files()


@pytest.mark.parametrize("flavour", BOTH)
@pytest.mark.parametrize("hooked_turn", [0, 1], ids=["then-without", "after-without"])
def test_a_fit_with_hooks_leaves_no_trace_in_the_other_fits(
    flavour: str, hooked_turn: int, tmp_path: Path
) -> None:
    k = cases.package(flavour)
    turns: list[int] = []

    def only_one_turn() -> list[Any]:
        turns.append(1)
        return [Hooks(tmp_path, ASKS).callback()] if len(turns) - 1 == hooked_turn else []

    _assert_same_chapters(
        _told(k, three_fits_of_which_one_has_hooks, list),
        _told(k, three_fits_of_which_one_has_hooks, only_one_turn),
    )
