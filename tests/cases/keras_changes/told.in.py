from tensorflow.keras.callbacks import ModelCheckpoint


def callbacks(model, history):
    print(history.history["val_acc"], {"acc": 1})
    return [ModelCheckpoint("best.h5", monitor="val_acc")]
