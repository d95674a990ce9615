# codemod: --style explicit
import tensorflow as tf

loss = tf.get_variable("loss", [])
if __name__ == "__main__":
    print(tf.trainable_variables())
