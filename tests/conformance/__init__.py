"""Conformance: the C interfaces (C++, in capi), HTTP/2 and gRPC against other implementations."""
