class TritonPythonModel:
    """Has nothing to execute."""

    def initialize(self, args):
        self.ready = True
