"""A SavedModel with a graph for each mode."""

from tests.bridge.estimator.world import as_json, data, estimator, linear, tf


def main(work):
    made = linear(work).train(data, steps=5)
    modes = estimator.ModeKeys

    def serving():
        x = tf.placeholder(tf.float32, [None, 3])
        return estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    with tf.Graph().as_default():
        features, labels = {"x": tf.zeros([1, 3])}, tf.zeros([1, 1])
        supervised = estimator.experimental.build_raw_supervised_input_receiver_fn(features, labels)
    path = made.experimental_export_all_saved_models(
        work + "/export", {modes.TRAIN: supervised, modes.EVAL: supervised, modes.PREDICT: serving}
    ).decode()
    found = {}
    for tags in (["train"], ["eval"], ["serve"]):
        with tf.Session(graph=tf.Graph()) as session:
            meta = tf.saved_model.loader.load(session, tags, path)
            for name, signature in meta.signature_def.items():
                found[name] = [signature.method_name, sorted(signature.inputs), sorted(signature.outputs)]
            if tags == ["eval"]:
                signature = meta.signature_def["eval"]
                feeds = {
                    signature.inputs["input" if "input" in signature.inputs else "x"].name: [[1.0, 2.0, 3.0]]
                }
                feeds[signature.inputs["label"].name] = [[1.0]]
                found["loss"] = session.run(signature.outputs["loss"].name, feeds)
    return as_json(found)
