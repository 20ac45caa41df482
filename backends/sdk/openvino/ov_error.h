// SPDX-License-Identifier: Apache-2.0
// Turns OpenVINO's exceptions into Errors at the place of the call, for the backends on it.
// Stateless.
#ifndef NEREID_BACKENDS_SDK_OPENVINO_OV_ERROR_H_
#define NEREID_BACKENDS_SDK_OPENVINO_OV_ERROR_H_

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "backends/sdk/error.h"

namespace nereid_backend {

// The runtime's text in one line, without the source locations that it names.
inline std::string ReadableText(std::string_view text) {
  std::string readable;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    if (line.empty() || line.rfind("Exception from ", 0) == 0) continue;
    if (!readable.empty()) readable += ' ';
    readable += line;
  }
  return readable;
}

// The Error for the exception being handled. REQUIRES: called in a catch block.
inline Error CaughtOvError(std::string_view context) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE, StrCat(context, "out of memory"));
  } catch (const std::exception& e) {
    return Error::Internal(StrCat(context, "openvino error: ", ReadableText(e.what())));
  } catch (...) {
    return Error::Internal(StrCat(context, "openvino error without a text"));
  }
}

// Runs `body` (returns Error). INTERNAL for the runtime's failures, UNAVAILABLE if memory is
// exhausted, with `context` before the message.
template <typename Body>
Error OvTry(std::string_view context, Body&& body) {
  try {
    return body();
  } catch (...) {
    return CaughtOvError(context);
  }
}

// Whether a run failed because an output does not fit the tensor passed for it. The runtime has no
// error code for that.
inline bool IsOutputMismatch(const Error& error) {
  return !error.ok() &&
         std::string_view(error.message()).find("set new shape") != std::string_view::npos;
}

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_OPENVINO_OV_ERROR_H_
