"""Strategies in RunConfig: one device, one replica, several, on the computer's CPU taken for two."""

from tests.bridge.estimator.world import (
    IS_V1,
    Journal,
    X,
    Y,
    as_json,
    data,
    estimator,
    events,
    job,
    linear,
    numbers,
    once,
    regression,
    tf,
    variables,
)

if IS_V1:
    contrib = tf.contrib.distribute
else:
    from bridge.estimator import strategies as contrib

TWO = ["/cpu:0", "/cpu:1"]
SESSION = tf.ConfigProto(device_count={"CPU": 2})


def two():
    with tf.Graph().as_default():  # Today's TensorFlow asks an eager program for a second logical device.
        return tf.distribute.MirroredStrategy(TWO)


STRATEGIES = {
    "one device": lambda: tf.distribute.OneDeviceStrategy("/cpu:0"),
    "mirrored": lambda: tf.distribute.MirroredStrategy(["/cpu:0"]),
    "mirrored over two": two,
    "central storage over two": lambda: tf.distribute.experimental.CentralStorageStrategy(TWO, "/cpu:0"),
    "contrib's mirrored": lambda: contrib.MirroredStrategy(num_gpus=0),
    "contrib's collective": contrib.CollectiveAllReduceStrategy,
    "contrib's parameter server": contrib.ParameterServerStrategy,
}


def adam(rate):
    return tf.train.AdamOptimizer(rate)


def rows(count, batch=4):
    return lambda: tf.data.Dataset.from_tensor_slices(({"x": X[:count]}, Y[:count])).batch(batch)


def made_with(strategy, folder, model_fn=regression, **more):
    both = {"train_distribute": strategy, "eval_distribute": strategy}
    return linear(folder, model_fn, session_config=SESSION, **dict(both, **more))


def each(work):
    """The same job under each strategy."""
    made = {}
    for number, (name, make) in enumerate(sorted(STRATEGIES.items())):
        job_ = made_with(make(), work + f"/each{number}", params={"optimizer": adam})
        job_.train(data, max_steps=8)
        evaluation = job_.evaluate(once)
        predictions = [row["y"] for row in job_.predict(rows(5))]
        made[name] = {"evaluation": evaluation, "predictions": predictions, "job": job(job_, None)}
    return made


def by_hand(work):
    """What one and two replicas compute, as a session without strategy and Estimator does it."""
    made = {}
    for count in (1, 2):
        with tf.Graph().as_default(), tf.Session(config=SESSION) as session:
            w = tf.get_variable("w", initializer=tf.constant([[0.1], [0.2], [0.3]]), use_resource=True)
            b = tf.get_variable("b", [1], initializer=tf.zeros_initializer(), use_resource=True)
            batches = tf.data.make_one_shot_iterator(data())
            gradients = []
            for _ in range(count):
                features, labels = batches.get_next()
                y = tf.add(tf.matmul(features["x"], w), b)
                gradients.append(tf.gradients(tf.reduce_mean(tf.square(y - labels)) / count, [w, b]))
            optimizer = adam(0.1)
            sums = [tf.add_n(list(each_)) for each_ in zip(*gradients)]
            step = optimizer.apply_gradients(list(zip(sums, [w, b])))
            session.run(tf.global_variables_initializer())
            for _ in range(8):
                session.run(step)
            named = {
                "b": b,
                "w": w,
                "w/Adam": optimizer.get_slot(w, "m"),
                "w/Adam_1": optimizer.get_slot(w, "v"),
            }
            made[str(count)] = session.run(named)
    return made


def everything(work):
    """Hooks, listeners, summaries, a scaffold and an input_context, in two replicas."""
    calls, contexts = [], []

    class Listener(tf.train.CheckpointSaverListener):
        def before_save(self, session, global_step_value):
            calls.append(f"saved {global_step_value}")

    def model_fn(features, labels, mode, params, config):
        spec = regression(features, labels, mode, params)
        tf.summary.scalar("largest", tf.reduce_max(features["x"]))
        scale = tf.get_variable(
            "scale", [], trainable=False, initializer=tf.ones_initializer(), collections=["local_variables"]
        )
        with tf.control_dependencies([tf.identity(scale)]):
            loss = tf.identity(spec.loss)
        return spec._replace(
            loss=loss,
            training_hooks=[Journal(calls, "training")],
            training_chief_hooks=[Journal(calls, "chief")],
            scaffold=tf.train.Scaffold(
                init_fn=lambda scaffold, session: calls.append("init_fn"),
                local_init_op=tf.group(tf.local_variables_initializer(), tf.tables_initializer()),
                ready_op=tf.report_uninitialized_variables(),
            ),
        )

    def input_fn(mode, params, config, input_context=None):
        contexts.append(
            [
                mode,
                input_context and input_context.num_replicas_in_sync,
                input_context and input_context.num_input_pipelines,
                input_context and input_context.input_pipeline_id,
                input_context and input_context.get_per_replica_batch_size(8),
                config.train_distribute.num_replicas_in_sync,
            ]
        )
        return data()

    made = made_with(two(), work + "/everything", model_fn)
    made.train(input_fn, hooks=[Journal(calls, "user")], steps=2, saving_listeners=[Listener()])
    made.train(input_fn, hooks=[Journal(calls, "user")], steps=2, saving_listeners=[Listener()])
    made.evaluate(input_fn, steps=2, hooks=[Journal(calls, "user")])
    return {"calls": calls, "contexts": contexts, "job": job(made, None)}


def reductions(work):
    """What is reported as loss where it is a sum, a mean, or nothing that optimizers know of."""

    def model_fn(features, labels, mode, params):
        y = tf.matmul(features["x"], tf.get_variable("w", [3, 1], initializer=tf.ones_initializer()))
        loss = params["loss"](labels, y)
        step = tf.train.get_global_step()
        return estimator.EstimatorSpec(
            mode, loss=loss, train_op=tf.train.GradientDescentOptimizer(0.01).minimize(loss, step)
        )

    reduction = tf.losses.Reduction
    losses = {
        "sum": lambda labels, y: tf.losses.mean_squared_error(labels, y, reduction=reduction.SUM),
        "mean": tf.losses.mean_squared_error,
        "by hand": lambda labels, y: tf.reduce_sum(tf.abs(labels - y)),
    }
    made = {}
    for name, loss in sorted(losses.items()):
        job_ = made_with(two(), work + "/" + name, model_fn, params={"loss": loss})
        job_.train(data, max_steps=3)
        made[name] = [events(job_.model_dir), variables(job_.latest_checkpoint()), job_.evaluate(once)]
    return made


def ends(work):
    """Inputs that end when only some of the replicas have a batch, or a smaller one."""
    made = {}
    for count in (16, 20, 22):
        job_ = made_with(two(), work + f"/rows{count}")
        job_.train(rows(count))
        made[str(count)] = [variables(job_.latest_checkpoint())]
        if count != 20:  # One replica's metric may be updated before the other finds no batch, in TF1, too.
            made[str(count)].append(job_.evaluate(rows(count)))
    return made


def around(work):
    """Early stopping, in-memory evaluation, warm starts, exporters and metrics of all kinds, in two replicas."""

    def receiver_fn():
        x = tf.placeholder(tf.float32, [None, 3])
        return estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    first = made_with(two(), work + "/first", save_checkpoints_steps=2)
    metrics, exports = estimator.train_and_evaluate(
        first,
        estimator.TrainSpec(data, max_steps=4),
        estimator.EvalSpec(
            once,
            steps=2,
            exporters=estimator.FinalExporter("final", receiver_fn),
            start_delay_secs=0,
            throttle_secs=0,
        ),
    )
    warm = made_with(two(), work + "/warm", warm_start_from=work + "/first", params={"rate": 0.0})
    stop = estimator.experimental.stop_if_lower_hook(
        first, "loss", 3.0, run_every_secs=None, run_every_steps=1
    )
    warm.train(data, hooks=[stop], steps=2)

    def metric_fn(labels, predictions):
        return {
            "rmse": tf.metrics.root_mean_squared_error(labels, predictions["y"]),
            "positive": tf.metrics.accuracy(labels > 0, predictions["y"] > 0),
            "auc": tf.metrics.auc(labels > 0, tf.sigmoid(predictions["y"])),
            "size": tf.metrics.mean_tensor(tf.constant([1.0, 3.0])),
        }

    more = estimator.add_metrics(warm, metric_fn)
    return {
        "metrics": metrics,
        "exports": len(exports),
        "first": job(first, None),
        "warm": variables(warm.latest_checkpoint()),
        "more": more.evaluate(once),
    }


def canned(work):
    """A canned classifier in two replicas; TensorFlow 1.15 cannot evaluate its metrics there."""
    column = tf.feature_column.numeric_column("x", [3])
    labels = (Y[:, 0] > 0).astype("int64")

    def input_fn():
        return tf.data.Dataset.from_tensor_slices(({"x": X}, labels)).repeat().batch(4)

    config = estimator.RunConfig(work + "/canned", train_distribute=two(), session_config=SESSION)
    made = estimator.LinearClassifier(
        [column], config=config, optimizer=tf.train.GradientDescentOptimizer(0.1)
    )
    made.train(input_fn, max_steps=4)
    return [made.evaluate(input_fn, steps=3), variables(made.latest_checkpoint())]


def refused(work):
    """What cannot be is refused when TensorFlow 1.15 refuses it."""

    def kind(call):
        try:
            return call() and "nothing"
        except (ValueError, TypeError) as error:
            return "ValueError" if isinstance(error, ValueError) else type(error).__name__

    def tensors():
        return {"x": tf.constant(numbers(1, 4, 3))}, tf.constant(numbers(2, 4, 1))

    strategy = two()
    config = contrib.DistributeConfig(train_distribute=strategy, eval_distribute=strategy)
    inside = estimator.RunConfig(experimental_distribute=config)
    return {
        "tensors": kind(lambda: made_with(strategy, work + "/tensors").train(tensors, steps=1)),
        "both": kind(lambda: estimator.RunConfig(train_distribute=strategy, experimental_distribute=config)),
        "both for evaluations": kind(
            lambda: estimator.RunConfig(eval_distribute=strategy, experimental_distribute=config)
        ),
        "inside": [
            inside.train_distribute is strategy,
            inside.eval_distribute is strategy,
            inside.replace(save_summary_steps=3).train_distribute.num_replicas_in_sync,
        ],
    }


def main(work):
    parts = [each, by_hand, everything, reductions, ends, around, canned, refused]
    return as_json({part.__name__: part(work) for part in parts})
