"""Tests of the race track's Python parts."""
