// SPDX-License-Identifier: Apache-2.0
// Creates the JSON messages that the server API returns. Stateless.
#ifndef NEREID_C_API_MESSAGE_H_
#define NEREID_C_API_MESSAGE_H_

#include <absl/status/statusor.h>

#include <string>
#include <utility>

#include "c_objects/error.h"
#include "c_objects/message.h"

namespace nereid {

// Stores a new message in `*message`, which the caller deletes, or returns the error of `json`.
inline TRITONSERVER_Error* ReturnMessage(absl::StatusOr<std::string> json,
                                         TRITONSERVER_Message** message) {
  if (!json.ok()) return ToCError(json.status());
  *message = new TRITONSERVER_Message{*std::move(json)};
  return nullptr;
}

}  // namespace nereid

#endif  // NEREID_C_API_MESSAGE_H_
