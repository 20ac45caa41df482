// Helpers for backends whose models send several or delayed responses to a request: the destruction
// of a response factory, and the statistics of each response. Stateless, thread-safe.
#ifndef NEREID_BACKENDS_SDK_RESPONSE_FACTORY_H_
#define NEREID_BACKENDS_SDK_RESPONSE_FACTORY_H_

#include <cstdint>
#include <memory>

#include "triton/core/tritonbackend.h"

namespace nereid_backend {

struct FactoryDeleter {
  void operator()(TRITONBACKEND_ResponseFactory* factory) const noexcept;
};
using OwnedFactory = std::unique_ptr<TRITONBACKEND_ResponseFactory, FactoryDeleter>;

// Reports a response of a decoupled model that was just sent: its work began at `start`, its
// outputs were written from `output_start` on. The caller keeps `error`, which may be null.
void ReportResponse(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_ResponseFactory* factory,
                    uint64_t start, uint64_t output_start, TRITONSERVER_Error* error);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_RESPONSE_FACTORY_H_
