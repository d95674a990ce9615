"""What a `model_fn` is called for."""

from __future__ import annotations


class ModeKeys:
    """The names of the three modes (`tf.estimator.ModeKeys`).

    Attributes:
      TRAIN: Training.
      EVAL: Evaluation.
      PREDICT: Prediction, and the export of a served model.
    """

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"
