# SPDX-License-Identifier: Apache-2.0
"""Has a class, but not with the required name."""


class Model:
    def execute(self, requests):
        return []
