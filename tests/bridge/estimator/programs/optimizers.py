"""The variables and slots of the optimizers in checkpoints."""

from tests.bridge.estimator.world import data, linear, tf, variables


def main(work):
    train = tf.train
    made = {}
    for name, optimizer in (
        ("adam", train.AdamOptimizer),
        ("adagrad", train.AdagradOptimizer),
        ("rmsprop", train.RMSPropOptimizer),
        ("ftrl", train.FtrlOptimizer),
        ("momentum", lambda rate: train.MomentumOptimizer(rate, 0.9)),
    ):
        job = linear(work + "/" + name, params={"optimizer": optimizer}).train(data, steps=6)
        made[name] = variables(job.latest_checkpoint())
    return made
