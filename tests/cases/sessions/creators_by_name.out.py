import bridge
import tensorflow.compat.v1 as tf


def train(train_op, args, config, init_fn):
    scaffold = tf.train.Scaffold(init_fn=init_fn)
    saver_hook = tf.train.CheckpointSaverHook(args.log_dir, save_steps=10)
    print("training")

    with bridge.MonitoredTrainingSession(scaffold=scaffold, config=config, checkpoint_dir=args.log_dir, hooks=[saver_hook], save_checkpoint_secs=None, save_summaries_steps=None, log_step_count_steps=None) as sess:
        sess.fit(bridge.GraphModel(train_op), verbose=0)


def work(train_op, server):
    sess = bridge.MonitoredTrainingSession(master=server.target, is_chief=False)
    sess.run(train_op)


def work_again(train_op, server):
    bridge.MonitoredTrainingSession(master=server.target, is_chief=False).run(train_op)
