class TritonPythonModel:
    """Has no execute."""

    def initialize(self, args):
        self.ready = True
