import keras
from keras import backend as K
from keras.losses import mean_squared_error
from tensorflow.keras import backend as TK
from tensorflow.keras.preprocessing.image import ImageDataGenerator

K.clear_session()
print(TK.sum([1.0]), ImageDataGenerator(), mean_squared_error, keras.layers.Dense, K.floatx())
