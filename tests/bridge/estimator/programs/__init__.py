"""Programs that run in both worlds: under TensorFlow 1.15's `tf.estimator`, and under `bridge.estimator`.

Each has `main(work)`, which trains in the folder `work` and returns what can be compared, as JSON can hold it.
"""
