import tensorflow.compat.v1 as tf

if __name__ == "__main__":
    for record in tf.python_io.tf_record_iterator("a"):
        tf.logging.info(record)
