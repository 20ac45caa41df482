# SPDX-License-Identifier: Apache-2.0
"""Helpers shared by all Python tests: servers, repositories, raw HTTP, gRPC stubs."""
