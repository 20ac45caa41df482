# SPDX-License-Identifier: Apache-2.0
"""Tests of the staged server from outside: over its ports, its command line and its signals."""
