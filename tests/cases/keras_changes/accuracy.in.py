import matplotlib.pyplot as plt
from tensorflow import keras
from tensorflow.keras.callbacks import EarlyStopping, ModelCheckpoint, TensorBoard
from tensorflow.keras.models import Sequential, load_model
from tensorflow.keras.regularizers import l2

model = Sequential([keras.layers.Dense(3, kernel_regularizer=l2(l=0.01), activation="softmax")])
model.compile("sgd", "categorical_crossentropy", metrics=['accuracy', "mse"])


def train(x, y):
    history = model.fit(
        x,
        y,
        callbacks=[
            ModelCheckpoint("best.{epoch:02d}-{val_acc:.2f}.hdf5", monitor="val_acc", period=5),
            ModelCheckpoint("logs/" + "weights.h5", save_weights_only=True, period=1),
            EarlyStopping(monitor="val_acc"),
            TensorBoard(log_dir="logs", histogram_freq=0, batch_size=32, write_graph=True, write_grads=True),
            TensorBoard(log_dir="logs", batch_size=32, write_grads=False, write_images=True),
        ],
    )
    plt.plot(history.history["acc"])
    model.save_weights("end.h5")
    return model.predict_classes(x), load_model("best.h5").predict_proba(x, 32)
