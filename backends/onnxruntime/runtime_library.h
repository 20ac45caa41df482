// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's library, loaded when the backend starts rather than linked: an installation brings
// it beside the backend, a Python environment in its package `onnxruntime`, under a name of its own
// and in whichever release is there. Loaded once per process, and never unloaded. Thread-safe.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_RUNTIME_LIBRARY_H_
#define NEREID_BACKENDS_ONNXRUNTIME_RUNTIME_LIBRARY_H_

#include <string>

#include "backends/sdk/error.h"

struct OrtApiBase;

namespace nereid_backend {

// The environment variable that names the file; the Python package nereid sets it.
inline constexpr const char* kRuntimeVariable = "NEREID_ONNXRUNTIME_LIBRARY";

// Loads the file that the variable names. Without it: libonnxruntime.so.1 in `folder`, the
// backend's own; if there is none, where the dynamic loader looks. NOT_FOUND says where it was
// looked for, and how to get it. A process has one runtime: once loaded, it is returned.
Result<const OrtApiBase*> LoadRuntime(const std::string& folder);

// What LoadRuntime has loaded; null before.
const OrtApiBase* Runtime();

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_RUNTIME_LIBRARY_H_
