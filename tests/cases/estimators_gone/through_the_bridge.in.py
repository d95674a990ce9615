import bridge
from bridge import estimator as lib


def make(columns):
    return lib.BoostedTreesClassifier(columns, 1), bridge.estimator.Estimator(None), lib.RunConfig()
