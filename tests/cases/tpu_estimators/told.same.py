import bridge


def make(model_fn, config, use_tpu):
    return bridge.estimator.tpu.TPUEstimator(model_fn, config=config, use_tpu=use_tpu, train_batch_size=4)
