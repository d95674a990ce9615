import bridge
from bridge import estimator as lib


def make(columns):
    # TODO(codemod TFB604): bridge.estimator has no BoostedTreesClassifier. Train gradient-boosted trees with tensorflow_decision_forests, XGBoost or LightGBM
    return lib.BoostedTreesClassifier(columns, 1), bridge.estimator.Estimator(None), lib.RunConfig()
