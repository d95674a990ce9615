import bridge
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_bool("use_tpu", False, "Whether to use TPUs.")
flags.DEFINE_string("tpu_name", None, "Which.")


def model_fn(features, labels, mode, params):
    optimizer = tf.train.AdamOptimizer()
    if FLAGS.use_tpu:
        optimizer = tf.tpu.CrossShardOptimizer(optimizer)
    loss = tf.reduce_mean(features["x"])
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return bridge.estimator.tpu.TPUEstimatorSpec(mode=mode, loss=loss, train_op=train_op, scaffold_fn=None)


def main(_):
    resolver = None
    if FLAGS.use_tpu and FLAGS.tpu_name:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(FLAGS.tpu_name)
    is_per_host = bridge.estimator.tpu.InputPipelineConfig.PER_HOST_V2
    run_config = bridge.estimator.tpu.RunConfig(
        cluster=resolver,
        save_checkpoints_steps=1000,
        tpu_config=bridge.estimator.tpu.TPUConfig(
            iterations_per_loop=1000,
            num_shards=8,
            per_host_input_for_training=is_per_host))
    estimator = bridge.estimator.tpu.TPUEstimator(
        use_tpu=FLAGS.use_tpu,
        model_fn=model_fn,
        config=run_config,
        train_batch_size=32)
    estimator.train(lambda params: None, max_steps=10)


if __name__ == "__main__":
    tf.app.run()
