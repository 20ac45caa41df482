# SPDX-License-Identifier: Apache-2.0
"""Is no Python."""


class TritonPythonModel:
    def execute(self, requests)
        return []
