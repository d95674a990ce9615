import tensorflow as tf


def train(train_op, args, config, init_fn):
    scaffold = tf.train.Scaffold(init_fn=init_fn)
    saver_hook = tf.train.CheckpointSaverHook(args.log_dir, save_steps=10)
    session_creator = tf.train.ChiefSessionCreator(
        scaffold, config=config,
        checkpoint_dir=args.log_dir)
    print("training")

    with tf.train.MonitoredSession(session_creator=session_creator, hooks=[saver_hook]) as sess:
        while not sess.should_stop():
            sess.run(train_op)


def work(train_op, server):
    creator = tf.train.WorkerSessionCreator(master=server.target)
    sess = tf.train.MonitoredSession(creator)
    sess.run(train_op)


def work_again(train_op, server):
    creator = tf.train.WorkerSessionCreator(master=server.target)
    tf.train.MonitoredSession(creator).run(train_op)
