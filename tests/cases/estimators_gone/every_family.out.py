import bridge
import tensorflow.compat.v1 as tf
# TODO(codemod TFB901): tensorflow_estimator does not exist any more. Use bridge.estimator, or Keras
import tensorflow_estimator as tfe
# TODO(codemod TFB901): tf.contrib.learn does not exist any more. Use bridge.estimator or Keras; the data sets moved to tensorflow-datasets
from tensorflow.contrib import learn
from bridge.estimator import predictor
# TODO(codemod TFB604): tf.contrib.learn.learn_runner does not exist any more. Call bridge.estimator.train_and_evaluate(estimator, TrainSpec(...), EvalSpec(...)) instead
from tensorflow.contrib.learn.python.learn import learn_runner
from bridge.estimator import BaselineClassifier, Estimator
# TODO(codemod TFB901): tensorflow.python.estimator.canned.metric_keys does not exist any more. Use a public name, or copy the code from TensorFlow 1.15
from tensorflow.python.estimator.canned import metric_keys

lib = bridge.estimator


class Heads(bridge.estimator.MultiHead):
    pass


def run(columns, experiment_fn, directory, labels):
    # TODO(codemod TFB604): bridge.estimator has no KMeans. Use scikit-learn's MiniBatchKMeans, whose partial_fit takes batches
    lib.LinearEstimator(head=Heads([])), lib.Estimator, lib.experimental.KMeans(3)
    # TODO(codemod TFB604): bridge.estimator has no BoostedTreesRegressor. Train gradient-boosted trees with tensorflow_decision_forests, XGBoost or LightGBM
    tfe.estimator.BoostedTreesRegressor(columns, 1), lib.DNNLinearCombinedEstimator(None, columns)
    # TODO(codemod TFB604): bridge.estimator has no replicate_model_fn. Train a Keras model in the scope of tf.distribute.MirroredStrategy
    bridge.estimator.heads.multi_class_head(3), tf.contrib.estimator.replicate_model_fn(None)
    # TODO(codemod TFB604): tf.contrib.tpu.outfeed_dequeue does not exist any more. On TPUs train a Keras model in tf.distribute.TPUStrategy's scope with fit
    # TODO(codemod TFB604): tf.contrib.tpu.AsyncCheckpointSaverHook does not exist any more. Use tf.train.CheckpointSaverHook, which writes the same files
    tf.contrib.tpu.outfeed_dequeue(tf.float32), tf.contrib.tpu.AsyncCheckpointSaverHook(directory)
    # TODO(codemod TFB604): tf.contrib.learn.learn_runner does not exist any more. Call bridge.estimator.train_and_evaluate(estimator, TrainSpec(...), EvalSpec(...)) instead
    learn_runner.run(experiment_fn, directory)
    # TODO(codemod TFB604): tf.contrib.learn.Experiment does not exist any more. Call bridge.estimator.train_and_evaluate(estimator, TrainSpec(...), EvalSpec(...)) instead
    # TODO(codemod TFB604): tf.contrib.learn.Estimator does not exist any more. Use bridge.estimator.Estimator: the model_fn returns an EstimatorSpec
    # TODO(codemod TFB604): tf.contrib.learn.ModelFnOps does not exist any more. Return a bridge.estimator.EstimatorSpec
    learn.Experiment(learn.Estimator(None), None, None), learn.ModelFnOps("train")
    # TODO(codemod TFB604): tf.contrib.learn.DNNLinearCombinedRegressor does not exist any more. Use bridge.estimator.DNNLinearCombinedRegressor with columns of tf.feature_column: fit(x, y) is train(input_fn), and predict returns dictionaries
    learn.DNNLinearCombinedRegressor(directory, columns).fit(labels)
    # TODO(codemod TFB604): tf.contrib.learn.DNNClassifier does not exist any more. Use bridge.estimator.DNNClassifier with columns of tf.feature_column: fit(x, y) is train(input_fn), and predict returns dictionaries
    # TODO(codemod TFB604): tf.contrib.learn.monitors does not exist any more. Use the session hooks of tf.train; Keras's fit takes them in bridge.HookCallback
    learn.DNNClassifier([8], columns).fit(labels), learn.monitors.ValidationMonitor(labels)
    # TODO(codemod TFB604): tf.contrib.learn.read_batch_features does not exist any more. Read with tf.data: TFRecordDataset, parse_example_dataset, shuffle, batch
    # TODO(codemod TFB604): tf.contrib.learn.extract_pandas_data does not exist any more. Give the values themselves: frame.values, or numpy.asarray
    learn.io.read_batch_features(directory, 8, {}), learn.extract_pandas_data(labels)
    predictor.from_saved_model(directory)
    # TODO(codemod TFB604): bridge.estimator has no MetricKeys. Write the key itself, such as 'loss', 'average_loss', 'accuracy', 'probabilities' or 'class_ids'
    BaselineClassifier(), Estimator(None), metric_keys.MetricKeys.LOSS
    # TODO(codemod TFB604): tf.contrib.timeseries.ARRegressor does not exist any more. Use the package tensorflow-probability: tfp.sts
    return tf.contrib.timeseries.ARRegressor(1, 2, 3, 4)
