"""One job with every hook that TensorFlow ships."""
import json
import os
import sys

import numpy as np
import tensorflow as tf

base = sys.argv[1]
ckpt_dir, summary_dir, profile_dir = [os.path.join(base, name) for name in ("ckpt", "summaries", "profile")]
for directory in (ckpt_dir, summary_dir, profile_dir):
    tf.gfile.MakeDirs(directory)

tf.logging.set_verbosity(tf.logging.INFO)


class Listener(tf.train.CheckpointSaverListener):
    def __init__(self):
        self.calls = []

    def begin(self):
        self.calls.append("begin")

    def before_save(self, session, global_step_value):
        self.calls.append("before %d" % global_step_value)

    def after_save(self, session, global_step_value):
        self.calls.append("after %d" % global_step_value)

    def end(self, session, global_step_value):
        self.calls.append("end %d" % global_step_value)


scale = tf.placeholder_with_default(1.0, shape=(), name="scale")
data = np.linspace(-1, 1, 48).reshape(12, 4).astype(np.float32)
rows = tf.data.Dataset.from_tensor_slices(data).repeat().batch(3).make_one_shot_iterator().get_next()
center = tf.get_variable("center", shape=[4], initializer=tf.constant_initializer(0.5))
distance = tf.reduce_sum(tf.square(rows - center), axis=1, keep_dims=True)
loss = tf.identity(scale * tf.reduce_mean(distance), name="loss")
tf.summary.scalar("loss", loss)
global_step = tf.train.get_or_create_global_step()
train_op = tf.train.GradientDescentOptimizer(0.05).minimize(loss, global_step=global_step)

lines = []
listener = Listener()
final_ops = tf.train.FinalOpsHook(final_ops={"center": center, "scaled": center * scale},
                                  final_ops_feed_dict={scale: 3.0})
hooks = [
    tf.train.FeedFnHook(feed_fn=lambda: {scale: 2.0}),
    tf.train.GlobalStepWaiterHook(0),
    tf.train.NanTensorHook(loss, fail_on_nan_loss=False),
    tf.train.LoggingTensorHook(["loss"], every_n_iter=10, at_end=True,
                               formatter=lambda values: lines.append(sorted(values)) or "loss logged"),
    tf.train.CheckpointSaverHook(ckpt_dir, save_steps=8, checkpoint_basename="every.ckpt", listeners=[listener]),
    tf.train.StepCounterHook(every_n_steps=10, output_dir=summary_dir),
    tf.train.SummarySaverHook(save_steps=6, output_dir=summary_dir, summary_op=tf.summary.merge_all()),
    tf.train.ProfilerHook(save_steps=10, output_dir=profile_dir, show_memory=True),
    final_ops,
    tf.train.StopAtStepHook(num_steps=25),
]

with tf.train.MonitoredTrainingSession(
        hooks=hooks, save_checkpoint_secs=None, save_summaries_steps=None, save_summaries_secs=None) as sess:
    while not sess.should_stop():
        sess.run(train_op)


def events_of(directory):
    for name in sorted(os.listdir(directory)):
        if "tfevents" in name:
            for event in tf.train.summary_iterator(os.path.join(directory, name)):
                yield event


tags = sorted({v.tag for e in events_of(summary_dir) for v in e.summary.value})
rates = [e.step for e in events_of(summary_dir) for v in e.summary.value if v.tag == "global_step/sec"]
traces = sorted(name for name in os.listdir(profile_dir) if name.startswith("timeline"))
center_value = final_ops.final_ops_values["center"]
print(json.dumps({
    "step": int(tf.train.load_variable(ckpt_dir, "global_step")),
    "loss": float(2 * np.mean(np.sum((data - center_value) ** 2, axis=1))),
    "scaled": final_ops.final_ops_values["scaled"].tolist(),
    "listener": listener.calls,
    "logged": len(lines), "tags": tags, "rates": rates, "traces": len(traces),
    "files": sorted(n for n in os.listdir(ckpt_dir) if not n.startswith("events")),
}))
