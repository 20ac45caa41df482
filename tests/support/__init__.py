"""Helpers shared by all Python tests: servers, repositories, raw HTTP, gRPC stubs."""
