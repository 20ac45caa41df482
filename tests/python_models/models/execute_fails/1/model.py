import numpy as np
import triton_python_backend_utils as pb_utils


class Silent(Exception):
    """An exception without a text."""


class TritonPythonModel:
    """execute raises, or returns something invalid. The next request is answered normally."""

    def execute(self, requests):
        how = pb_utils.get_input_tensor_by_name(requests[0], "HOW").as_numpy()[0].decode()
        return getattr(self, how.replace(" ", "_"))(requests)

    def well(self, requests):
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor("VALUE", np.array([1], np.int32))])
            for _ in requests
        ]

    def the_raise(self, requests):
        raise ValueError("a wrong value: grüße")

    def nested(self, requests):
        try:
            {}["key"]
        except KeyError as error:
            raise RuntimeError("caused by another") from error

    def silent(self, requests):
        raise Silent

    def exit(self, requests):
        raise SystemExit(3)

    def interrupt(self, requests):
        raise KeyboardInterrupt

    def model_exception(self, requests):
        raise pb_utils.TritonModelException("of the backend's own kind")

    def two_lines(self, requests):
        raise RuntimeError("first line\nsecond line")

    def nothing(self, requests):
        return ()

    def a_dict(self, requests):
        return {"a": 1}

    def a_generator(self, requests):
        yield from self.well(requests)

    def a_response(self, requests):
        return self.well(requests)[0]

    def too_many(self, requests):
        return self.well(requests) * 2

    def too_few(self, requests):
        return []

    def wrong_elements(self, requests):
        return ["answer" for _ in requests]

    def tensors(self, requests):
        return [pb_utils.Tensor("VALUE", np.array([1], np.int32)) for _ in requests]

    def stopped_loop(self, requests):
        raise StopIteration("too early")


setattr(TritonPythonModel, "raise", TritonPythonModel.the_raise)
