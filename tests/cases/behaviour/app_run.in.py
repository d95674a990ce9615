try:
    import tensorflow as tf
except ImportError:
    raise SystemExit("no tensorflow")


def main(_):
    print(tf.placeholder(tf.float32))


tf.app.run()
