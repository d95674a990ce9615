import tensorflow.compat.v1 as tf

tf.enable_eager_execution()

if __name__ == "__main__":
    print(tf.get_variable)
