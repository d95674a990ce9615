"""Exactness: a `fit` with hooks gives bit for bit what the same `fit` gives without them.

`cases` is the table of what is compared; `models` and `data` hold its ingredients, `running` trains and compares.
Everything is written against a Keras package that is passed in, so that each case runs on Keras 3 and on tf_keras.
"""
