import json

import numpy as np
import triton_python_backend_utils as pb_utils


def attempt(action):
    try:
        return repr(action())
    except TypeError:
        return "TypeError"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


class TritonPythonModel:
    """All the ways to log."""

    def initialize(self, args):
        pb_utils.Logger.log_info("probe: in initialize")

    def execute(self, requests):
        log = pb_utils.Logger
        log.log("probe: plain")
        log.log("probe: info", log.INFO)
        log.log("probe: warning", log.WARNING)
        log.log("probe: error", log.ERROR)
        log.log("probe: verbose", log.VERBOSE)
        log.log(message="probe: named", level=log.WARNING)
        log.log_info("probe: log_info")
        log.log_warn("probe: log_warn")
        log.log_error("probe: log_error")
        log.log_verbose("probe: log_verbose")
        log.log_info(message="probe: grüße, 100%s {}")
        log.log_info("probe: " + "x" * 3000 + " end")
        report = {
            "number": attempt(lambda: log.log_info(3)),
            "no text": attempt(lambda: log.log_info(None)),
            "level a number": attempt(lambda: log.log("a", 1)),
            "nothing": attempt(lambda: log.log()),
            "names": sorted(name for name in dir(log) if not name.startswith("_")),
        }
        text = np.array([json.dumps(report)], dtype=np.object_)
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)]) for _ in requests
        ]

    def finalize(self):
        pb_utils.Logger.log_info("probe: in finalize")
