# SPDX-License-Identifier: Apache-2.0
"""Implements triton_python_backend_utils. Models import that module, not this package."""
