import tensorflow as tf

def model_fn(features, labels, mode):
    y = tf.keras.layers.Dense(1)(features["x"])
    loss = tf.losses.mean_squared_error(labels, y)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step()))

est = tf.estimator.Estimator(model_fn)
est.train(lambda: None, steps=1)
est.evaluate(lambda: None)
est.predict(lambda: None)
