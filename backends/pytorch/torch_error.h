// SPDX-License-Identifier: Apache-2.0
// Turns PyTorch's exceptions into Errors at the place of the call. Stateless.
#ifndef NEREID_BACKENDS_PYTORCH_TORCH_ERROR_H_
#define NEREID_BACKENDS_PYTORCH_TORCH_ERROR_H_

#include <c10/util/Exception.h>

#include <new>
#include <string>
#include <string_view>

#include "backends/sdk/error.h"

namespace nereid_backend {

// The message of an exception without its stack of C++ frames; for a failure inside TorchScript,
// the line that failed and the reason.
std::string ShortMessage(std::string_view what);

// Runs `body` (returns Error); an exception becomes INTERNAL with `context` before its message.
template <typename Body>
Error TorchTry(std::string_view context, Body&& body) {
  try {
    return body();
  } catch (const c10::Error& e) {
    return Error::Internal(StrCat(context, ShortMessage(e.what_without_backtrace())));
  } catch (const std::bad_alloc&) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE, StrCat(context, "out of memory"));
  } catch (const std::exception& e) {
    return Error::Internal(StrCat(context, ShortMessage(e.what())));
  } catch (...) {
    return Error::Internal(StrCat(context, "an exception of unknown type"));
  }
}

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_TORCH_ERROR_H_
