import sys


class TritonPythonModel:
    """Calls sys.exit() in initialize."""

    def initialize(self, args):
        sys.exit("no licence")

    def execute(self, requests):
        return []
