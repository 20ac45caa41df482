# SPDX-License-Identifier: Apache-2.0
"""The differential test: the same requests to Triton and to Nereid."""
