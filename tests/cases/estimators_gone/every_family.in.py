import tensorflow as tf
import tensorflow_estimator as tfe
from tensorflow.contrib import learn, predictor
from tensorflow.contrib.learn.python.learn import learn_runner
from tensorflow.estimator import BaselineClassifier, Estimator
from tensorflow.python.estimator.canned import metric_keys

lib = tf.estimator


class Heads(tf.estimator.MultiHead):
    pass


def run(columns, experiment_fn, directory, labels):
    lib.LinearEstimator(head=Heads([])), lib.Estimator, lib.experimental.KMeans(3)
    tfe.estimator.BoostedTreesRegressor(columns, 1), lib.DNNLinearCombinedEstimator(None, columns)
    tf.contrib.estimator.multi_class_head(3), tf.contrib.estimator.replicate_model_fn(None)
    tf.contrib.tpu.outfeed_dequeue(tf.float32), tf.contrib.tpu.AsyncCheckpointSaverHook(directory)
    learn_runner.run(experiment_fn, directory)
    learn.Experiment(learn.Estimator(None), None, None), learn.ModelFnOps("train")
    learn.DNNLinearCombinedRegressor(directory, columns).fit(labels)
    learn.DNNClassifier([8], columns).fit(labels), learn.monitors.ValidationMonitor(labels)
    learn.io.read_batch_features(directory, 8, {}), learn.extract_pandas_data(labels)
    predictor.from_saved_model(directory)
    BaselineClassifier(), Estimator(None), metric_keys.MetricKeys.LOSS
    return tf.contrib.timeseries.ARRegressor(1, 2, 3, 4)
