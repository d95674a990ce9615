def main():
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    with tf.Session() as sess:
        print(sess.run(tf.constant(1)))


if __name__ == '__main__':
    main()
