// SPDX-License-Identifier: Apache-2.0
// Writes requests in the form that the process of a Python model receives. Stateless.
#ifndef NEREID_BACKENDS_PYTHON_REQUEST_MESSAGE_H_
#define NEREID_BACKENDS_PYTHON_REQUEST_MESSAGE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "backends/python/client_files.h"
#include "backends/python/ipc/value.h"
#include "backends/python/transport.h"
#include "backends/sdk/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

// Where the tensors of a request go.
struct RequestMemory {
  Transport* transport;
  ClientFiles* files;
  std::vector<uint64_t>* blocks;  // belong to the process once the message is sent
};

// What is known of a request that was written.
struct WrittenRequest {
  std::vector<OutputPlace> places;  // where the process may write outputs
  bool has_large_inputs = false;    // one has kLeastLent bytes or more
};

// Copies the inputs of `request` into a block, which is appended to `memory.blocks`, unless the
// process can map them; and appends the request, known as `number`, to `message`. After an error
// neither blocks nor message are changed.
Result<WrittenRequest> WriteRequest(TRITONBACKEND_Request* request, uint64_t number,
                                    const RequestMemory& memory,
                                    nereid_python::ValueWriter* message);

// INVALID_ARG, with Triton's texts, if `bytes` are not the wire form of `count` strings.
Error CheckStrings(std::string_view input, std::string_view bytes, uint64_t count);

// A fingerprint of the request's inputs. Never 0.
uint64_t FingerprintOf(TRITONBACKEND_Request* request);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_REQUEST_MESSAGE_H_
