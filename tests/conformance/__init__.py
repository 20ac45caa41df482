# SPDX-License-Identifier: Apache-2.0
"""Conformance: the C interfaces (C++, in capi), HTTP/2 and gRPC against other implementations."""
