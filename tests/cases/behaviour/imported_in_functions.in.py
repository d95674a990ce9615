"""TensorFlow is only imported when it is needed: what runs first is not what stands first."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"


def network(images):
    import tensorflow as tf

    return tf.layers.flatten(images)


def main():
    import tensorflow as tf

    images = tf.placeholder(tf.float32, [None, 28, 28])
    return network(images)


if __name__ == "__main__":
    main()
