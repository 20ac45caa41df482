"""Implements triton_python_backend_utils. Models import that module, not this package."""
