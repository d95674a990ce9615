import bridge
from bridge import estimator as lib


def make(columns):
    # TODO(codemod TFB604): bridge.estimator has no BoostedTreesClassifier. Train gradient-boosted trees with tensorflow_decision_forests, XGBoost or LightGBM
    return lib.BoostedTreesClassifier(columns, 1), bridge.estimator.Estimator(None), lib.RunConfig()


def quiet(estimator):
    # TODO(codemod TFB604): Estimator._assert_members_are_not_overridden is private. The class of bridge.estimator is written anew: override or call its public methods, or hooks
    lib.Estimator._assert_members_are_not_overridden = staticmethod(lambda _: None)
    return lib.Estimator.__name__
