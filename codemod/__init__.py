"""Source rewriting for the port from TensorFlow 1: the home of ``python -m codemod migrate``.

This package reads code and never runs it, so it imports neither TensorFlow nor ``bridge``.
"""
