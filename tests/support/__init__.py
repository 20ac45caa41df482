"""Helpers shared by all Python tests: servers, repositories, HTTP by hand, gRPC stubs."""
