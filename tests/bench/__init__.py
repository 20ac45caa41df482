"""Tests of the Python parts of bench/."""
