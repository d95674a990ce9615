"""Time and memory of training steps: plain `fit`, `fit` with hooks, and the v1 session."""
