"""Names its class as it likes."""


class Model:
    def execute(self, requests):
        return []
