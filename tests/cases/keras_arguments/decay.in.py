from tensorflow.keras.optimizers import SGD

sgd = SGD(lr=0.1, decay=1e-6, momentum=0.9)
