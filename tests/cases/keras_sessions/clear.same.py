from tensorflow.keras import backend as K

K.clear_session()
