import bridge
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()

def model_fn(features, labels, mode):
    y = tf.keras.layers.Dense(1)(features["x"])
    loss = tf.losses.mean_squared_error(labels, y)
    return bridge.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step()))

est = bridge.estimator.Estimator(model_fn)
est.train(lambda: None, steps=1)
est.evaluate(lambda: None)
est.predict(lambda: None)
