import tensorflow as tf
from tensorflow.estimator import DNNLinearCombinedRegressor
from tensorflow.python.estimator.canned.dnn_linear_combined import DNNLinearCombinedClassifier as WideAndDeep


def build_estimator(model_dir, model_type, wide_columns, deep_columns):
    hidden_units = [100, 75, 50, 25]
    run_config = tf.estimator.RunConfig().replace(session_config=tf.ConfigProto(device_count={"GPU": 0}))
    if model_type == "wide":
        return tf.estimator.LinearClassifier(model_dir=model_dir, feature_columns=wide_columns, config=run_config)
    return tf.estimator.DNNLinearCombinedClassifier(
        model_dir=model_dir,
        linear_feature_columns=wide_columns,
        dnn_feature_columns=deep_columns,
        dnn_hidden_units=hidden_units,
        config=run_config)


def others(wide_columns):
    return DNNLinearCombinedRegressor("out", wide_columns), WideAndDeep("more", wide_columns)
