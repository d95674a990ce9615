import matplotlib.pyplot as plt
from tensorflow import keras
from tensorflow.keras.callbacks import EarlyStopping, ModelCheckpoint, TensorBoard
from tensorflow.keras.models import Sequential, load_model
from tensorflow.keras.regularizers import l2

model = Sequential([keras.layers.Dense(3, kernel_regularizer=l2(l2=0.01), activation="softmax")])
model.compile("sgd", "categorical_crossentropy", metrics=['acc', "mse"])


def train(x, y):
    # TODO(codemod TFB507): tf.keras.callbacks.TensorBoard does not take batch_size, write_grads in Keras 3 (--unsafe-fixes rewrites it)
    # TODO(codemod TFB507): tf.keras.callbacks.ModelCheckpoint has no argument period in Keras 3. Use save_freq, which is "epoch" or a number of batches
    # TODO(codemod TFB507): tf.keras.callbacks.ModelCheckpoint takes files that end with .keras or .h5 only. Give the file such a name, here and where it is loaded
    # TODO(codemod TFB507): tf.keras.callbacks.ModelCheckpoint takes files that end with .weights.h5 only. Give the file such a name, here and where it is loaded
    history = model.fit(
        x,
        y,
        callbacks=[
            ModelCheckpoint("best.{epoch:02d}-{val_acc:.2f}.hdf5", monitor="val_acc", period=5),
            ModelCheckpoint("logs/" + "weights.h5", save_weights_only=True),
            EarlyStopping(monitor="val_acc"),
            TensorBoard(log_dir="logs", histogram_freq=0, batch_size=32, write_graph=True, write_grads=True),
            TensorBoard(log_dir="logs", write_images=True),
        ],
    )
    plt.plot(history.history["acc"])
    # TODO(codemod TFB507): Keras 3 writes weights to files that end with .weights.h5 only. Give the file such a name, here and where it is loaded
    model.save_weights("end.h5")
    # TODO(codemod TFB507): predict_classes does not exist any more. Use model.predict(x).argmax(axis=-1) for softmax, and (model.predict(x) > 0.5).astype('int32') for sigmoid
    return model.predict_classes(x), load_model("best.h5").predict(x, 32, verbose=0)
