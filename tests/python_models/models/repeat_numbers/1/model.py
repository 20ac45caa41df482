import threading

import numpy as np
import triton_python_backend_utils as pb_utils

FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


def response(index):
    return pb_utils.InferenceResponse(
        [
            pb_utils.Tensor("INDEX", np.array([index], np.int32)),
            pb_utils.Tensor("TEXT", np.array([f"number {index}"], dtype=np.object_)),
        ]
    )


class TritonPythonModel:
    """Sends COUNT responses to a request; HOW says in which way, and how the stream ends."""

    def initialize(self, args):
        self.threads = []

    def execute(self, requests):
        for request in requests:
            count = int(pb_utils.get_input_tensor_by_name(request, "COUNT").as_numpy()[0])
            how = pb_utils.get_input_tensor_by_name(request, "HOW").as_numpy()[0].decode()
            sender = request.get_response_sender()
            send = getattr(self, how)
            if how.startswith("thread"):
                thread = threading.Thread(target=send, args=(sender, count))
                self.threads.append(thread)
                thread.start()
            else:
                send(sender, count)
        return None

    def final_alone(self, sender, count):
        for index in range(count):
            sender.send(response(index))
        sender.send(flags=FINAL)

    def final_with_last(self, sender, count):
        for index in range(count):
            sender.send(response(index), flags=FINAL if index == count - 1 else 0)

    def thread(self, sender, count):
        self.final_alone(sender, count)

    def threads_of_each(self, sender, count):
        """Each response has its own thread; they run one after the other, so the order is fixed."""
        for index in range(count):
            one = threading.Thread(target=lambda index=index: sender.send(response(index)))
            one.start()
            one.join()
        sender.send(flags=FINAL)

    thread_of_each = threads_of_each

    def error_then_final(self, sender, count):
        for index in range(count):
            sender.send(response(index))
        error = pb_utils.TritonError("no more", pb_utils.TritonError.UNAVAILABLE)
        sender.send(pb_utils.InferenceResponse(error=error))
        sender.send(response(count))
        sender.send(flags=FINAL)

    def error_with_final(self, sender, count):
        for index in range(count):
            sender.send(response(index))
        error = pb_utils.TritonError("this was the last", pb_utils.TritonError.NOT_FOUND)
        sender.send(pb_utils.InferenceResponse(error=error), flags=FINAL)

    def empty_responses(self, sender, count):
        for _ in range(count):
            sender.send(pb_utils.InferenceResponse([]))
        sender.send(flags=FINAL)

    def raises(self, sender, count):
        for index in range(count):
            sender.send(response(index))
        raise ValueError("out of numbers")

    def finalize(self):
        for thread in self.threads:
            thread.join()
