"""A small library as projects have it: models and hooks imported relatively, TensorFlow imported in each file."""
from .hooks import *  # noqa
from .models import Walker, get_model

__version__ = "0.3"
