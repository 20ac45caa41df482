"""What triton_python_backend_utils is made of. Models import that module, and not this package."""
