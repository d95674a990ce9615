"""Names that only look like Estimators: a parameter, the file's own module, another package's."""
import sklearn.base as estimator
from . import estimator as own


def fit(tf, x):
    return tf.estimator.Estimator(x), estimator.BaseEstimator(), own.RunConfig()
