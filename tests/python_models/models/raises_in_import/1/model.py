"""Cannot be imported."""

import a_module_that_nobody_has


class TritonPythonModel:
    def execute(self, requests):
        return a_module_that_nobody_has.answer(requests)
