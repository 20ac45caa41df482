// SPDX-License-Identifier: Apache-2.0
// The messages of a stream that carry no tensors: errors, and ends of requests without a response.
// Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_STREAM_MESSAGES_H_
#define NEREID_FRONTENDS_GRPC_STREAM_MESSAGES_H_

#include <absl/strings/string_view.h>

#include <string>

#include "frontends/grpc/out_message.h"

namespace nereid {

// What identifies a request to its client, as the client wrote it.
struct RequestNames {
  std::string id;
  std::string model;
  std::string version;
};

// An error for a request that never reached the model.
OutMessage MakeRefusal(absl::string_view error, absl::string_view id);
// An error from the model. `is_final`: nothing more follows for the request.
OutMessage MakeErrorResponse(absl::string_view error, const RequestNames& names, bool is_final);
// The end of a request, for clients that ask to be told.
OutMessage MakeEmptyFinalResponse(const RequestNames& names);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_STREAM_MESSAGES_H_
