# SPDX-License-Identifier: Apache-2.0
"""The current stage of the model's life, and the arguments given to the model at its start.

Written by the main thread only, between calls of the model; read by any thread.
"""

from __future__ import annotations

import threading

import _nereid_native as native

from .errors import TritonModelException

MAIN_THREAD = threading.get_ident()

name = ""  # of the instance; while the configuration is completed, of the model
model_file = ""
model_dir = ""
decoupled = False
outputs: frozenset = frozenset()  # the names of those in the configuration
may_ask = False  # from the beginning of initialize to that of finalize
ending = False  # since the beginning of finalize
executing = False  # the main thread is in the model's execute


BLS_NOT_NOW = "BLS is only supported during the 'execute' function."


def check_bls_allowed() -> None:
    """A forked child does not learn how the life of the model goes on; its parent checks that."""
    if not may_ask and not native.in_forked_child():
        raise TritonModelException(BLS_NOT_NOW)


def get_model_dir() -> str:
    """The folder of the model's version, which contains model.py if the model has one."""
    return model_dir
