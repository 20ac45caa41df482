// SPDX-License-Identifier: Apache-2.0
// Sending several responses with one announcement to the server's I/O threads
// (NEREID_SendTogether). Stateless; thread-safe.
#ifndef NEREID_BACKENDS_SDK_SEND_TOGETHER_H_
#define NEREID_BACKENDS_SDK_SEND_TOGETHER_H_

#include <type_traits>

#include "backends/sdk/error.h"
#include "backends/sdk/log.h"
#include "backends/sdk/server_function.h"
#include "nereid/backend.h"

namespace nereid_backend {

// Calls `send()`, which sends responses and does nothing else that takes time. It must not throw.
template <typename Send>
void SendTogether(Send&& send) {
  static const auto together = ServerFunction<decltype(NEREID_SendTogether)>("NEREID_SendTogether");
  if (together == nullptr) return send();
  NB_LOG_IF_ERROR(
      together([](void* userp) { (*static_cast<std::remove_reference_t<Send>*>(userp))(); }, &send),
      "failed to send responses");
}

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_SEND_TOGETHER_H_
