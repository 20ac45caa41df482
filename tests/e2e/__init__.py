"""Tests of the staged server from outside: over its ports, its command line and its signals."""
