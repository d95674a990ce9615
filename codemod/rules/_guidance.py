"""Why names are gone, and where to go: what the findings of `gone` say, by the beginning of the name."""

from __future__ import annotations

_CONTRIB = "tf.contrib was removed with TensorFlow 2."
_KERAS = "Keras 3 has no such name."
_ADDONS = "tensorflow_addons had it, which is no longer maintained"

# Names of contrib, most used first in what was counted: where to go.
_OF_CONTRIB = {
    "": "Copy what you need from TensorFlow 1.15's contrib, or find the project that took it over.",
    "layers": "The package tf_slim has most of it; copy the rest from TensorFlow 1.15.",
    "layers.embed_sequence": "Use tf.nn.embedding_lookup on a variable of your own, with the same name.",
    "layers.real_valued_column": "Use tf.feature_column.numeric_column.",
    "layers.sparse_column_with_hash_bucket": "Use tf.feature_column.categorical_column_with_hash_bucket.",
    "layers.sparse_column_with_keys": "Use tf.feature_column.categorical_column_with_vocabulary_list.",
    "layers.sparse_column_with_integerized_feature": "Use tf.feature_column.categorical_column_with_identity.",
    "layers.sparse_column_with_vocabulary_file": "Use tf.feature_column.categorical_column_with_vocabulary_file.",
    "layers.embedding_column": "Use tf.feature_column.embedding_column.",
    "layers.one_hot_column": "Use tf.feature_column.indicator_column.",
    "layers.bucketized_column": "Use tf.feature_column.bucketized_column.",
    "layers.crossed_column": "Use tf.feature_column.crossed_column.",
    "layers.input_from_feature_columns": "Use tf.feature_column.input_layer.",
    "layers.create_feature_spec_for_parsing": "Use tf.feature_column.make_parse_example_spec.",
    "layers.python": "The package tf_slim has the layers; what it lacks, copy from TensorFlow 1.15.",
    "slim": "The package tf_slim took slim over; copy what it lacks from TensorFlow 1.15.",
    "framework": "Use the function of tf.train, tf.nest or tf_slim that does it, or copy it from TensorFlow 1.15.",
    "framework.smart_cond": "Use a Python if for what is known when the graph is built, and tf.cond otherwise.",
    "seq2seq": f"{_ADDONS}; write the decoding loop with Keras or tf.while_loop.",
    "rnn": "Use Keras's recurrent layers, or subclass tf.nn.rnn_cell.RNNCell (through bridge.legacy_keras).",
    "rnn.NASCell": "Copy the class from TensorFlow 1.15's contrib; its base is tf.nn.rnn_cell.RNNCell, through bridge.legacy_keras.",
    "rnn.stack_bidirectional_dynamic_rnn": "Call tf.nn.bidirectional_dynamic_rnn once for each layer, on the outputs joined.",
    "rnn.LSTMBlockFusedCell": "Use keras.layers.LSTM, or tf.nn.rnn_cell.LSTMCell through bridge.legacy_keras.",
    "rnn.LayerNormBasicLSTMCell": "Use keras.layers.RNN over a cell with LayerNormalization.",
    "cudnn_rnn": "Use keras.layers.LSTM and GRU, which run on cuDNN by themselves.",
    "learn": "Use bridge.estimator or Keras; the data sets moved to tensorflow-datasets.",
    "learn.preprocessing": "Use keras.layers.TextVectorization, or a dict of the words that gives the numbers of before.",
    "legacy_seq2seq": "Copy the functions from TensorFlow 1.15's contrib; they take cells of tf.nn, through bridge.legacy_keras.",
    "training": "Copy it from TensorFlow 1.15's contrib.",
    "training.bucket_by_sequence_length": "Use tf.data.experimental.bucket_by_sequence_length.",
    "training.stratified_sample": "Use tf.data.experimental.rejection_resample.",
    "training.GreedyLoadBalancingStrategy": "Copy it from TensorFlow 1.15's contrib; tf.train.replica_device_setter takes it.",
    "data": "Use tf.data or tf.data.experimental.",
    "data.sliding_window_batch": "Use tf.data.Dataset.window.",
    "lookup": "Use tf.lookup or bridge.lookup.",
    "lookup.string_to_index": "Look the words up in bridge.lookup.index_table_from_tensor.",
    "lookup.index_to_string": "Look the numbers up in bridge.lookup.index_to_string_table_from_tensor.",
    "metrics": "Use tf.metrics (v1), tf_slim.metrics or keras.metrics.",
    "losses": "Use tf.losses (v1), tf_slim.losses or keras.losses.",
    "summary": "Use tf.summary of TensorFlow 1 with a FileWriter, or tf.compat.v2.summary, whose functions want a step.",
    "opt": "Use an optimizer of keras.optimizers or tf.train, or copy this one.",
    "opt.NadamOptimizer": "Use keras.optimizers.Nadam, or copy the optimizer.",
    "opt.AdaMaxOptimizer": "Use keras.optimizers.Adamax, or copy the optimizer.",
    "opt.AdamWOptimizer": "Use keras.optimizers.AdamW, or copy the optimizer.",
    "opt.MomentumWOptimizer": "Use keras.optimizers.SGD with weight_decay, or copy the optimizer.",
    "opt.MovingAverageOptimizer": "Use tf.train.ExponentialMovingAverage, or use_ema of keras.optimizers.",
    "opt.ScipyOptimizerInterface": "Call scipy.optimize.minimize with tf.gradients, or tfp.optimizer.",
    "image": f"{_ADDONS}; use keras.layers.RandomRotation and friends, or tf.raw_ops.ImageProjectiveTransformV3.",
    "gan": "The package tensorflow-gan took it over.",
    "crf": f"{_ADDONS}; copy its three functions.",
    "distributions": "The package tensorflow-probability took it over: tfp.distributions.",
    "bayesflow": "The package tensorflow-probability took it over.",
    "predictor": "Use tf.saved_model.load(folder).signatures['serving_default'].",
    "saved_model": "Use tf.saved_model.",
    "session_bundle": "Use tf.saved_model.",
    "tpu": "Use tf.distribute.TPUStrategy with Keras.",
    "distribute": "Use tf.distribute.",
    "cluster_resolver": "Use tf.distribute.cluster_resolver.",
    "nccl": "Use tf.distribute with tf.distribute.NcclAllReduce, or tf.raw_ops.NcclAllReduce.",
    "all_reduce": "Use tf.distribute, which chooses the algorithm itself.",
    "eager": "Eager execution is TensorFlow 2 itself: tf.GradientTape, tf.Variable, tf.train.Checkpoint.",
    "eager.defun": "Use tf.function.",
    "checkpoint": "Use tf.train.Checkpoint.",
    "autograph": "Use tf.autograph.",
    "staging": "Use tf.data.Dataset.prefetch, or tf.raw_ops.Stage and Unstage.",
    "memory_stats": "Use tf.config.experimental.get_memory_info.",
    "compiler": "Use tf.xla.experimental.jit_scope, or tf.function(jit_compile=True).",
    "tfprof": "Use tf.profiler (v1) or tf.profiler.experimental.",
    "tensorboard": "Use the package tensorboard: tensorboard.plugins.projector, whose functions take the log folder.",
    "graph_editor": "Copy what you need from TensorFlow 1.15's contrib, or use tf.graph_util.",
    "quantize": "Use the package tensorflow-model-optimization.",
    "model_pruning": "Use the package tensorflow-model-optimization.",
    "mixed_precision": "Use keras.mixed_precision.",
    "tensorrt": "Use tf.experimental.tensorrt.",
    "lite": "Use tf.lite, or the package ai-edge-litert.",
    "estimator": "Use bridge.estimator; hooks go on working.",
    "keras": "Use tf.keras.",
    "feature_column": "Use tf.feature_column.",
    "factorization": "Use the packages tensorflow-probability or scikit-learn.",
    "tensor_forest": "Use the package tensorflow-decision-forests.",
    "boosted_trees": "Use the package tensorflow-decision-forests.",
    "timeseries": "Use tfp.sts of tensorflow-probability.",
    "ffmpeg": "Use the package tensorflow-io.",
    "kafka": "Use the package tensorflow-io.",
    "text": "Use the package tensorflow-text.",
    "stat_summarizer": "Use tf.profiler.experimental.",
    "resampler": f"{_ADDONS}; write it with tf.gather_nd.",
    "sparsemax": f"{_ADDONS}; keras.activations.sparsemax is in Keras 3.",
    "constrained_optimization": "The project tensorflow_constrained_optimization took it over.",
    "kfac": "The package kfac took it over.",
    "solvers": "Use tf.linalg.experimental.conjugate_gradient.",
    "integrate": "Use tfp.math.ode of tensorflow-probability.",
}

_REST: dict[str, tuple[str, str]] = {
    "tf.estimator": (
        "Estimators were removed with TensorFlow 2.16.",
        "Use bridge.estimator, which has the same names, or Keras.",
    ),
    "tensorflow_estimator": (
        "It needs internals that TensorFlow no longer has.",
        "Use bridge.estimator, or Keras.",
    ),
    "tf.layers": (
        "Keras 3 has no tf.layers.",
        "Use keras.layers, or tf_keras's through bridge.legacy_keras.",
    ),
    "tf.nn.rnn_cell": (
        "Keras 3 has no legacy cells.",
        "Use Keras's recurrent layers, or tf_keras's through bridge.legacy_keras.",
    ),
    "tf.examples": ("TensorFlow no longer ships its examples.", "Use keras.datasets or tensorflow-datasets."),
    "tf.models": (
        "TensorFlow no longer ships its models.",
        "Use the packages tf-models-official or keras-hub.",
    ),
    "tf.google": ("That was only there inside Google.", "Use the public name, without google."),
    "tf.python": (
        "The private modules cannot be reached through `tf`.",
        "Use the public name, or import the private module itself.",
    ),
    "tensorflow.python.keras": (
        "The private copy of Keras 2 loses parts with every release.",
        "Use tf.keras, or tf_keras through bridge.legacy_keras.",
    ),
    "tensorflow.python": (
        "The private module or name was removed or moved.",
        "Use a public name, or copy the code from TensorFlow 1.15.",
    ),
}

# Of Keras: where to go; through TensorFlow and of the package itself.
_OF_KERAS = {
    "": "See the Keras 3 migration guide, or use tf_keras (through TensorFlow: bridge.legacy_keras).",
    "backend": "Keras 3's backend has no graph functions; use keras.ops or tf, or tf_keras through bridge.legacy_keras.",
    "backend.function": "Build a keras.Model of the same inputs and outputs, and call it.",
    "backend.placeholder": "Use keras.Input.",
    "backend.tensorflow_backend": "Use keras.backend, or bridge.apply_session_config for what configured the session.",
    "layers.CuDNNLSTM": "Use keras.layers.LSTM, which runs on cuDNN by itself.",
    "layers.CuDNNGRU": "Use keras.layers.GRU, which runs on cuDNN by itself.",
    "layers.advanced_activations": "Import the layer from keras.layers.",
    "layers.core": "Import the layer from keras.layers.",
    "layers.convolutional": "Import the layer from keras.layers.",
    "layers.normalization": "Import the layer from keras.layers.",
    "layers.recurrent": "Import the layer from keras.layers.",
    "layers.embeddings": "Import the layer from keras.layers.",
    "layers.merge": "Import the layer from keras.layers.",
    "layers.pooling": "Import the layer from keras.layers.",
    "layers.wrappers": "Import the layer from keras.layers.",
    "engine": "Import the class from keras or keras.layers.",
    "utils.multi_gpu_model": "Build and compile the model under tf.distribute.MirroredStrategy().scope().",
    "utils.np_utils": "Import to_categorical from keras.utils.",
    "utils.training_utils": "Build and compile the model under tf.distribute.MirroredStrategy().scope().",
    "utils.vis_utils": "Import plot_model from keras.utils.",
    "utils.generic_utils": "Import the function from keras.utils or keras.saving.",
    "wrappers.scikit_learn": "Use keras.wrappers.SKLearnClassifier, or the package scikeras.",
    "preprocessing.text": "Use keras.layers.TextVectorization.",
    "objectives": "Use keras.losses.",
    "estimator": "Use bridge.estimator.model_to_estimator.",
    "mixed_precision.experimental": "Use keras.mixed_precision: set_global_policy, and LossScaleOptimizer of keras.optimizers.",
    "experimental.export_saved_model": "Use model.export, or model.save.",
    "experimental.load_from_saved_model": "Use keras.layers.TFSMLayer, or tf_keras.",
    "optimizers.TFOptimizer": "Use an optimizer of keras.optimizers.",
}


def guidance(name: str) -> tuple[str, str]:
    """Why a canonical name is gone, and where to go; what is known about the longest beginning of it."""
    for length in range(name.count(".") + 1, 0, -1):
        found = _TABLE.get(".".join(name.split(".")[:length]))
        if found:
            return found
    return "Today's TensorFlow has no such name.", ""


def _below(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if name else prefix


_TABLE = {
    **{_below("tf.contrib", name): (_CONTRIB, remedy) for name, remedy in _OF_CONTRIB.items()},
    **{
        _below(prefix, name): (_KERAS, remedy)
        for prefix in ("tf.keras", "keras")
        for name, remedy in _OF_KERAS.items()
    },
    **_REST,
}
