# SPDX-License-Identifier: Apache-2.0
class TritonPythonModel:
    """Has no execute."""

    def initialize(self, args):
        self.ready = True
