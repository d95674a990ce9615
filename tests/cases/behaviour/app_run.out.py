try:
    import tensorflow.compat.v1 as tf
except ImportError:
    raise SystemExit("no tensorflow")
tf.disable_v2_behavior()


def main(_):
    print(tf.placeholder(tf.float32))


tf.app.run()
