from sklearn.linear_model import LogisticRegression
from tensorflow import keras

model = keras.Sequential([keras.layers.Dense(3)])
model.compile("sgd", "mse", metrics=["accuracy"])
saving = keras.callbacks.ModelCheckpoint("best.keras", monitor="val_accuracy")
saving = keras.callbacks.ModelCheckpoint("best.weights.h5", save_weights_only=True, save_freq="epoch")
board = keras.callbacks.TensorBoard("logs", histogram_freq=1, write_images=True)
model.save_weights("end.weights.h5")


def probabilities(x):
    return LogisticRegression().predict_proba(x), {"acc": 1.0}
