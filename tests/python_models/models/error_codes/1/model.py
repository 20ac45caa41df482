import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Fails requests with the code that they name; other requests of the batch are answered."""

    def execute(self, requests):
        responses = []
        for request in requests:
            code = pb_utils.get_input_tensor_by_name(request, "CODE").as_numpy()
            name = code[0][0].decode()
            if name == "none":
                tensor = pb_utils.Tensor("CODE_OUT", code)
                responses.append(pb_utils.InferenceResponse([tensor]))
            elif name == "default":
                error = pb_utils.TritonError("without a code")
                responses.append(pb_utils.InferenceResponse([], error))
            elif name == "with outputs":
                error = pb_utils.TritonError("outputs are not sent")
                tensor = pb_utils.Tensor("CODE_OUT", code)
                responses.append(pb_utils.InferenceResponse([tensor], error=error))
            else:
                error = pb_utils.TritonError(f"as wished: {name}", getattr(pb_utils.TritonError, name))
                responses.append(pb_utils.InferenceResponse(error=error))
        return responses
