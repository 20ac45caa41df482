// SPDX-License-Identifier: Apache-2.0
// Helpers for backends whose models send several or delayed responses to a request: the destruction
// of a response factory, the credit for further responses, and the statistics of each. Stateless,
// thread-safe.
#ifndef NEREID_BACKENDS_SDK_RESPONSE_FACTORY_H_
#define NEREID_BACKENDS_SDK_RESPONSE_FACTORY_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "triton/core/tritonbackend.h"

namespace nereid_backend {

struct FactoryDeleter {
  void operator()(TRITONBACKEND_ResponseFactory* factory) const noexcept;
};
using OwnedFactory = std::unique_ptr<TRITONBACKEND_ResponseFactory, FactoryDeleter>;

// Whether further responses of the request are wanted now. True with a server that does not tell.
bool HasCredit(TRITONBACKEND_ResponseFactory* factory);
// Calls `fn` once, on any thread, when they are: see NEREID_ResponseFactoryOnCredit. `fn` must not
// block or throw.
void OnCredit(TRITONBACKEND_ResponseFactory* factory, std::function<void()> fn);
// Blocks the calling thread until further responses are wanted, or the request has been cancelled
// or has ended. Only for a thread that has nothing else to do than to answer this request.
void AwaitCredit(TRITONBACKEND_ResponseFactory* factory);

// Reports a response of a decoupled model that was just sent: its work began at `start`, its
// outputs were written from `output_start` on. The caller keeps `error`, which may be null.
void ReportResponse(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_ResponseFactory* factory,
                    uint64_t start, uint64_t output_start, TRITONSERVER_Error* error);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_RESPONSE_FACTORY_H_
