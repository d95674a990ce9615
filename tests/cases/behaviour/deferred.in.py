def main():
    import tensorflow as tf
    with tf.Session() as sess:
        print(sess.run(tf.constant(1)))


if __name__ == '__main__':
    main()
