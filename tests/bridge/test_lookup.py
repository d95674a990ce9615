"""The tables of `bridge.lookup` look up what those of `tf.contrib.lookup` did, in sessions and in `tf.data`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

from bridge import lookup

tf1 = tf.compat.v1
WORDS = ["good", "bad", "film"]


@pytest.fixture
def vocabulary(tmp_path: Path) -> str:
    path = tmp_path / "words.txt"
    path.write_text("".join(f"{word}\n" for word in WORDS))
    return str(path)


def in_session(make: Any, keys: Any) -> list[Any]:
    with tf.Graph().as_default(), tf1.Session() as session:
        keys = tf.constant(keys, None if isinstance(keys[0], str) else tf.int64)
        result = make().lookup(keys)
        session.run(tf1.tables_initializer())
        return session.run(result).tolist()


def test_words_become_their_places_and_others_the_default() -> None:
    found = in_session(
        lambda: lookup.index_table_from_tensor(WORDS, default_value=7), ["film", "good", "plot"]
    )
    assert found == [2, 0, 7]


def test_other_words_are_spread_over_buckets_by_the_hash_of_tensorflow_1() -> None:
    def make() -> Any:
        return lookup.index_table_from_tensor(tf.constant(WORDS), num_oov_buckets=5)

    words = ["bad", "plot", "actor", "very", "not"]
    # What TensorFlow 1.15.5's tf.contrib.lookup.index_table_from_tensor makes of them.
    assert in_session(make, words) == GOLDEN_BUCKETS


GOLDEN_BUCKETS = [1, 6, 7, 4, 6]


def test_integers_of_any_width_are_looked_up() -> None:
    def make() -> Any:
        return lookup.index_table_from_tensor(tf.constant([10, 20], tf.int32), dtype=tf.int32)

    with tf.Graph().as_default(), tf1.Session() as session:
        table = make()
        result, size = table.lookup(tf.constant([20, 30], tf.int32)), table.size()
        session.run(tf1.tables_initializer())
        assert session.run([result, size])[0].tolist() == [1, -1]
        assert session.run(size) == 2


def test_lines_of_a_file_become_their_numbers(vocabulary: str) -> None:
    assert in_session(lambda: lookup.index_table_from_file(vocabulary), ["bad", "plot"]) == [1, -1]
    assert in_session(lambda: lookup.index_table_from_file(vocabulary, vocab_size=1), ["good", "bad"]) == [
        0,
        -1,
    ]
    found = in_session(lambda: lookup.index_table_from_file(vocabulary, num_oov_buckets=1), ["film", "plot"])
    assert found == [2, 3]


def test_columns_of_a_file_can_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("good,5\nbad,3\n")

    def make() -> Any:
        return lookup.index_table_from_file(
            str(path), key_column_index=0, value_column_index=1, delimiter=","
        )

    assert in_session(make, ["bad", "good"]) == [3, 5]


def test_numbers_become_words_again(vocabulary: str) -> None:
    from_list = in_session(lambda: lookup.index_to_string_table_from_tensor(WORDS), [2, 9])
    from_file = in_session(
        lambda: lookup.index_to_string_table_from_file(vocabulary, default_value="?"), [0, 9]
    )
    assert (from_list, from_file) == ([b"film", b"UNK"], [b"good", b"?"])


def test_a_table_works_in_a_data_set_under_tensorflow_2() -> None:
    table = lookup.index_table_from_tensor(WORDS)
    data = tf.data.Dataset.from_tensor_slices(["bad", "plot"]).map(table.lookup)
    assert [int(number) for number in data] == [1, -1]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: lookup.index_table_from_tensor(None), ValueError),
        (lambda: lookup.index_table_from_tensor(WORDS, num_oov_buckets=-1), ValueError),
        (lambda: lookup.index_table_from_tensor([1, 2]), TypeError),
        (lambda: lookup.index_table_from_file(None), ValueError),
        (lambda: lookup.index_table_from_file("a", vocab_size=0), ValueError),
        (lambda: lookup.index_to_string_table_from_tensor(None), ValueError),
        (lambda: lookup.index_to_string_table_from_file(""), ValueError),
    ],
)
def test_what_cannot_be_is_refused(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()
