import bridge
import tensorflow.compat.v1 as tf
from bridge.estimator import DNNLinearCombinedRegressor
from bridge.estimator import DNNLinearCombinedClassifier as WideAndDeep


def build_estimator(model_dir, model_type, wide_columns, deep_columns):
    hidden_units = [100, 75, 50, 25]
    run_config = bridge.estimator.RunConfig().replace(session_config=tf.ConfigProto(device_count={"GPU": 0}))
    if model_type == "wide":
        return bridge.estimator.LinearClassifier(model_dir=model_dir, feature_columns=wide_columns, config=run_config)
    return bridge.estimator.DNNLinearCombinedClassifier(
        model_dir=model_dir,
        linear_feature_columns=wide_columns,
        dnn_feature_columns=deep_columns,
        dnn_hidden_units=hidden_units,
        config=run_config)


def others(wide_columns):
    return DNNLinearCombinedRegressor("out", wide_columns), WideAndDeep("more", wide_columns)
