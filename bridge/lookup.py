"""Tables from words to numbers and back: the makers that `tf.contrib.lookup` had.

TensorFlow kept the tables and their initializers (`tf.lookup`), but not these four functions, which old input pipelines
call. They make the same tables as TensorFlow 1 did, for graphs of TensorFlow 1 and for `tf.data` under TensorFlow 2.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_lookup = tf.compat.v1.lookup
_WHOLE_LINE = tf.lookup.TextFileIndex.WHOLE_LINE
_LINE_NUMBER = tf.lookup.TextFileIndex.LINE_NUMBER


def index_table_from_tensor(
    vocabulary_list: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    name: str | None = None,
    dtype: Any = tf.string,
) -> Any:
    """Makes a table from each word of a list to its place in it.

    Stands for `tf.contrib.lookup.index_table_from_tensor`, without `hasher_spec`: words that are not in the list are
    spread by the default hash of TensorFlow 1.

    Args:
      vocabulary_list: The words: a tensor of one dimension, or a list.
      num_oov_buckets: How many numbers behind the list words get that are not in it; 0 for `default_value`.
      default_value: What such a word is otherwise.
      name: A name for the operations.
      dtype: The type of what is looked up; strings or integers.

    Returns:
      A table with `lookup`, to be initialized by `tf.compat.v1.tables_initializer()`.

    Raises:
      ValueError: If there is no vocabulary, or the number of buckets is negative.
      TypeError: If the vocabulary is of another type than `dtype` promises.
    """
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified: a list of the words in their order.")
    _check_buckets(num_oov_buckets)
    keys = tf.convert_to_tensor(vocabulary_list)
    integers = keys.dtype.is_integer
    if integers != tf.as_dtype(dtype).is_integer:
        raise TypeError(
            f"The vocabulary is of {keys.dtype.name}, but dtype is {tf.as_dtype(dtype).name}. Pass dtype={keys.dtype.name}."
        )
    keys = tf.cast(keys, tf.int64) if integers else keys
    values = tf.range(tf.size(keys, out_type=tf.int64), dtype=tf.int64)
    initializer = _lookup.KeyValueTensorInitializer(keys, values, keys.dtype, tf.int64)
    return _indices(initializer, num_oov_buckets, default_value, dtype, name)


def index_table_from_file(
    vocabulary_file: str | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    name: str | None = None,
    key_dtype: Any = tf.string,
    key_column_index: int = _WHOLE_LINE,
    value_column_index: int = _LINE_NUMBER,
    delimiter: str = "\t",
) -> Any:
    """Makes a table from each line of a file to its number.

    Stands for `tf.contrib.lookup.index_table_from_file`, without `hasher_spec`.

    Args:
      vocabulary_file: A file with one word a line.
      num_oov_buckets: How many numbers behind the file's words get that are not in it; 0 for `default_value`.
      vocab_size: How many lines are read; None for all.
      default_value: What such a word is otherwise.
      name: A name for the operations.
      key_dtype: The type of what is looked up; strings or integers.
      key_column_index: Which column holds the word, or a constant of `tf.lookup.TextFileIndex`.
      value_column_index: Which column holds the number, or a constant of `tf.lookup.TextFileIndex`.
      delimiter: What stands between columns.

    Returns:
      A table with `lookup`, to be initialized by `tf.compat.v1.tables_initializer()`.

    Raises:
      ValueError: If there is no file name, or a size is out of range.
    """
    _check_file(vocabulary_file, vocab_size)
    _check_buckets(num_oov_buckets)
    kind = tf.as_dtype(key_dtype)
    initializer = _lookup.TextFileInitializer(
        vocabulary_file,
        tf.int64 if kind.is_integer else kind,
        key_column_index,
        tf.int64,
        value_column_index,
        vocab_size,
        delimiter,
    )
    return _indices(initializer, num_oov_buckets, default_value, key_dtype, name)


def index_to_string_table_from_tensor(
    vocabulary_list: Any, default_value: str = "UNK", name: str | None = None
) -> Any:
    """Makes a table from numbers to the words of a list; stands for the function of that name in `tf.contrib.lookup`.

    Args:
      vocabulary_list: The words: a tensor of strings, or a list.
      default_value: The word for numbers that are out of range.
      name: A name for the operations.

    Returns:
      A table with `lookup`, to be initialized by `tf.compat.v1.tables_initializer()`.

    Raises:
      ValueError: If there is no vocabulary.
    """
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified: a list of the words in their order.")
    words = tf.convert_to_tensor(vocabulary_list, tf.string)
    numbers = tf.range(tf.size(words, out_type=tf.int64), dtype=tf.int64)
    initializer = _lookup.KeyValueTensorInitializer(numbers, words, tf.int64, tf.string)
    return _lookup.StaticHashTable(initializer, default_value, name=name)


def index_to_string_table_from_file(
    vocabulary_file: str,
    vocab_size: int | None = None,
    default_value: str = "UNK",
    name: str | None = None,
    key_column_index: int = _LINE_NUMBER,
    value_column_index: int = _WHOLE_LINE,
    delimiter: str = "\t",
) -> Any:
    """Makes a table from numbers to the lines of a file; stands for the function of that name in `tf.contrib.lookup`.

    Args:
      vocabulary_file: A file with one word a line.
      vocab_size: How many lines are read; None for all.
      default_value: The word for numbers that are out of range.
      name: A name for the operations.
      key_column_index: Which column holds the number, or a constant of `tf.lookup.TextFileIndex`.
      value_column_index: Which column holds the word, or a constant of `tf.lookup.TextFileIndex`.
      delimiter: What stands between columns.

    Returns:
      A table with `lookup`, to be initialized by `tf.compat.v1.tables_initializer()`.

    Raises:
      ValueError: If there is no file name, or `vocab_size` is out of range.
    """
    _check_file(vocabulary_file, vocab_size)
    initializer = _lookup.TextFileInitializer(
        vocabulary_file, tf.int64, key_column_index, tf.string, value_column_index, vocab_size, delimiter
    )
    return _lookup.StaticHashTable(initializer, default_value, name=name)


def _indices(initializer: Any, buckets: int, default: int, dtype: Any, name: str | None) -> Any:
    kind = tf.as_dtype(dtype)
    if buckets or initializer.key_dtype != kind:
        if not buckets:
            return _Int64Keys(_lookup.StaticHashTable(initializer, default, name=name))
        return _lookup.StaticVocabularyTable(initializer, buckets, lookup_key_dtype=kind, name=name)
    return _lookup.StaticHashTable(initializer, default, name=name)


class _Int64Keys:
    """A table of 64-bit integers that narrower ones can be looked up in, as TensorFlow 1's could."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Looks up integers of any width."""
        return self._table.lookup(tf.cast(keys, tf.int64), name=name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)


def _check_file(vocabulary_file: str | None, vocab_size: int | None) -> None:
    if not vocabulary_file:
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}. Leave it out to read all.")


def _check_buckets(buckets: int) -> None:
    if buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal to 0, got {buckets}.")
