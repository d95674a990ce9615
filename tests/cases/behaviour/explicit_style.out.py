# codemod: --style explicit
import tensorflow as tf
tf.compat.v1.disable_v2_behavior()

loss = tf.compat.v1.get_variable("loss", [])
if __name__ == "__main__":
    print(tf.compat.v1.trainable_variables())
