from tensorflow import keras

(x, y), _ = keras.datasets.mnist.load_data()
