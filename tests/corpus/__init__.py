"""The codemod on published TF1 packages: `make corpus`. No code of theirs is part of the project."""
