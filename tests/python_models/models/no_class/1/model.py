"""Has a class, but not with the required name."""


class Model:
    def execute(self, requests):
        return []
