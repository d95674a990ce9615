"""Which programs there are, which shape of legacy code each stands for, and what is known about it.

`cannot_swap` is what TensorFlow 2.21 with Keras 3 says when only the import line is swapped. All else about a program is in
its file, and its results are in `golden.json` beside it.
"""

from __future__ import annotations

from typing import Any

from tests.codemod.scripts_support import Script

NO_CONTRIB = r"has no attribute 'contrib'|No module named 'tensorflow.contrib'"
NO_ESTIMATOR = r"has no attribute 'estimator'|No module named 'tensorflow.python.estimator'|cannot import name 'estimator'"
NO_KERAS_2 = r"is not available with Keras 3"
NO_SET_SESSION = r"has no attribute 'set_session'"

SESSIONS = (
    Script("bare_loop", "a bare loop: one run, its result unused"),
    Script("used_results_printed", "results used in the loop only: printed"),
    Script("loop_shapes", "assigned sessions, conditions, early ends, rounds, values that outlive the loop"),
    Script("used_results_kept", "results kept in a list, the best so far, the last value after the loop"),
    Script("nested_epochs", "epochs around batches, evaluation after each, rates set in Python"),
    Script("gan_two_train_ops", "two train ops, two runs an iteration, feed_dict", cannot_swap=NO_CONTRIB),
    Script("policy_gradient", "reinforcement learning: feeds with state, the session an attribute"),
    Script("session_attribute", "self.sess, closed by hand, a Scaffold's saver"),
    Script("session_passed_around", "the session returned by a function and passed to others; resumed"),
    Script("scaffold_init", "Scaffold with init_fn, local_init_op, summary_op, saver"),
    Script("chief_only_hooks", "hook lists under is_chief, chief_only_hooks, horovod where it is installed"),
    Script("every_builtin_hook", "every hook that TensorFlow ships"),
    Script("custom_hooks_renamed_arguments", "hook classes with arguments of other names, inner imports"),
    Script(
        "hook_fetches_by_name",
        "a hook that fetches by name, from collections, a named tuple, a dict",
        cannot_swap=NO_CONTRIB,
    ),
    Script(
        "hook_feeds_and_options", "hooks that feed, ask for traces, request a stop", cannot_swap=NO_ESTIMATOR
    ),
    Script("hook_with_saver", "hooks that keep Savers and use collections; flags"),
    Script(
        "hook_made_in_function", "hook classes inside functions, of a built-in, a hook of hooks; positions"
    ),
    Script("run_step_fn", "run_step_fn with the raw session and request_stop"),
    Script("queue_runners", "queue runners with a Coordinator, and with the monitored session"),
    Script("out_of_range_loop", "while True until OutOfRangeError", cannot_swap=NO_CONTRIB),
    Script("break_and_conditions", "conditions with and, break, continue, for/else"),
    Script("notebook", "a notebook with magics and shell lines"),
    Script("supervisor", "Supervisor with managed_session"),
    Script("singular_monitored_session", "SingularMonitoredSession with raw_session"),
    Script("chief_session_creator", "MonitoredSession over ChiefSessionCreator"),
    Script(
        "raw_session_by_hand", "the _sess chain, a hook that keeps the raw session, Saver.save in the loop"
    ),
    Script("layers_dense", "tf.layers.dense, reused; a bare loop", cannot_swap=NO_KERAS_2),
    Script(
        "layers_batch_norm",
        "tf.layers convolutions, batch normalisation with UPDATE_OPS, dropout",
        cannot_swap=NO_KERAS_2,
    ),
    Script("raw_nn_convnet", "tf.nn by hand, old names and argument names", cannot_swap=NO_CONTRIB),
    Script("keras_layers_in_session", "tf.keras layers as the model of a session"),
    Script("keras_fit_in_session", "K.set_session(tf.Session(config=c)) and fit", cannot_swap=NO_SET_SESSION),
    Script("keras_fit_generator", "learning phase, fit_generator, a schedule", cannot_swap=NO_SET_SESSION),
    Script(
        "keras_model_to_estimator",
        "model_to_estimator(m).train(input_fn, hooks, steps)",
        cannot_swap=NO_ESTIMATOR,
    ),
    Script("learning_rate_in_python", "rates by assign and by feed, break on a target"),
    Script("restore_and_evaluate", "restore, evaluation, moving averages, resumed training"),
    Script("add_summary_writer", "FileWriter, add_summary, FileWriterCache"),
    Script("flags_and_app_run", "tf.app.flags of every kind and tf.app.run"),
    Script("slim_model", "tf.contrib.slim", cannot_swap=NO_CONTRIB),
    Script("slim_batch_norm", "what tf_slim alone no longer finds", cannot_swap=NO_CONTRIB),
    Script("contrib_layers", "tf.contrib.layers, HParams, get_or_create_global_step", cannot_swap=NO_CONTRIB),
    Script("contrib_data_and_lookup", "tf.contrib.data and tf.contrib.lookup", cannot_swap=NO_CONTRIB),
    Script("rnn_cells", "rnn_cell, dynamic_rnn, contrib.rnn", cannot_swap=NO_KERAS_2),
    Script(
        "mnist_tutorial",
        "the MNIST reader of tensorflow.examples",
        cannot_swap=r"No module named 'tensorflow.examples'",
        unsafe=True,
    ),
    Script("already_v1", "compat.v1 imported already"),
    Script("inline_compat_v1", "tf.compat.v1 spelt out at each use"),
    Script("import_styles", "other names for the module, from-imports, shadowing"),
    Script("tensorflow_python_imports", "everything from tensorflow.python"),
    Script(
        "python2_style",
        "written for Python 2 with care: CRLF, latin-1, tabs, xrange of six",
        cannot_swap=NO_CONTRIB,
    ),
    Script("package", "a package with relative, deferred, guarded and star imports"),
    Script(
        "ps_and_workers", "parameter server and workers, replica_device_setter", cluster="flags", slow=True
    ),
    Script("sync_replicas", "SyncReplicasOptimizer's hook, TF_CONFIG", cluster="TF_CONFIG", slow=True),
)


def _estimator(name: str, shape: str, **known: Any) -> Script:
    return Script(
        name,
        shape,
        folder="estimator_scripts",
        **{"cannot_swap": NO_ESTIMATOR, **known},
    )


ESTIMATORS = (
    _estimator(
        "model_fn_with_hooks", "hooks of every field of EstimatorSpec, train twice, max_steps reached"
    ),
    _estimator("train_and_evaluate_local", "train_and_evaluate, exporters, a served model"),
    _estimator("warm_start", "WarmStartSettings with names changed, and by a folder"),
    _estimator("early_stopping", "early stopping hooks of tf.estimator.experimental"),
    _estimator("custom_metrics", "metrics of every kind, add_metrics, inner imports"),
    _estimator("exporters", "BestExporter, parsing receivers, export_saved_model"),
    _estimator("numpy_input_fn", "inputs.numpy_input_fn, a logging hook by tensor name"),
    _estimator("tpu_estimator", "contrib.tpu.TPUEstimator(use_tpu=False)", cannot_swap=NO_CONTRIB),
    _estimator(
        "evaluate_and_predict_hooks",
        "hooks in evaluate and predict, InMemoryEvaluatorHook, older checkpoints",
    ),
    _estimator("saving_listeners", "saving_listeners, one that stops"),
    _estimator("scaffold_in_spec", "a Scaffold in the spec, averages restored in eval"),
    _estimator("dnn_classifier", "canned estimators over feature columns"),
    _estimator(
        "heads_and_predictor",
        "heads of contrib, forwarded keys, contrib.predictor",
        cannot_swap=NO_CONTRIB,
    ),
    _estimator("wide_and_deep", "canned estimators of two parts, CSV input, an old-style export"),
    _estimator(
        "keras_estimator_with_specs", "a Keras model through model_to_estimator and train_and_evaluate"
    ),
)

SCRIPTS = SESSIONS + ESTIMATORS
