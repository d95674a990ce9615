from tensorflow.keras.callbacks import ModelCheckpoint


def callbacks(model, history):
    # TODO(codemod TFB507): Keras 3 reports accuracy as val_accuracy. Compile with metrics=["acc"], or use the longer name
    print(history.history["val_acc"], {"acc": 1})
    # TODO(codemod TFB507): Keras 3 reports accuracy as val_accuracy. Compile with metrics=["acc"], or use the longer name
    return [ModelCheckpoint("best.h5", monitor="val_acc")]
