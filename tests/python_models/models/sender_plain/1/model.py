import threading

import triton_python_backend_utils as pb_utils

FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


class TritonPythonModel:
    """A model that is not decoupled, but answers with the response sender."""

    def execute(self, requests):
        results = []
        for request in requests:
            value = pb_utils.get_input_tensor_by_name(request, "VALUE").as_numpy().copy()
            how = pb_utils.get_input_tensor_by_name(request, "HOW").as_numpy()[0].decode()
            response = pb_utils.InferenceResponse([pb_utils.Tensor("VALUE_OUT", value)])
            sender = request.get_response_sender()
            results.append(getattr(self, how)(sender, response))
        return None if all(one is None for one in results) else results

    def with_final(self, sender, response):
        sender.send(response, flags=FINAL)

    def then_final(self, sender, response):
        sender.send(response)
        sender.send(flags=FINAL)

    def returned(self, sender, response):
        return response

    def sent_and_returned(self, sender, response):
        sender.send(response)
        return response

    def closed_and_returned(self, sender, response):
        sender.send(response, flags=FINAL)
        return response

    def from_a_thread(self, sender, response):
        threading.Thread(target=lambda: sender.send(response, flags=FINAL)).start()

    def an_error(self, sender, response):
        error = pb_utils.TritonError("not this one", pb_utils.TritonError.INVALID_ARG)
        sender.send(pb_utils.InferenceResponse(error=error), flags=FINAL)
