from tensorflow.keras.optimizers import SGD

# TODO(codemod TFB503): Keras 3 ignores decay: a schedule has the same rates (--unsafe-fixes rewrites it)
sgd = SGD(learning_rate=0.1, decay=1e-6, momentum=0.9)
