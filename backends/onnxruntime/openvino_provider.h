// SPDX-License-Identifier: Apache-2.0
// The execution provider of ONNX Runtime that computes with OpenVINO: a plug-in library next to the
// backend openvino. Compiled against a newer header of the runtime than the rest of this folder, so
// it shares no types of the C++ interface with it.
#ifndef NEREID_BACKENDS_ONNXRUNTIME_OPENVINO_PROVIDER_H_
#define NEREID_BACKENDS_ONNXRUNTIME_OPENVINO_PROVIDER_H_

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/sdk/error.h"

struct OrtEnv;
struct OrtSessionOptions;

namespace nereid_backend {

// Thread-safe. Lives as long as the runtime's environment.
class OpenVinoProvider {
 public:
  using Options = std::vector<std::pair<std::string, std::string>>;

  // `folder`: the folder of the backend openvino.
  explicit OpenVinoProvider(std::string folder) : folder_(std::move(folder)) {}

  // Makes the session created from `options` compute on the CPU with OpenVINO, as far as OpenVINO
  // supports it. The plug-in is loaded at the first call. UNSUPPORTED, with the reason or the
  // remedy, if it is not available.
  Error Append(OrtEnv* env, OrtSessionOptions* options, const Options& settings);

 private:
  Error Register(OrtEnv* env);

  const std::string folder_;
  std::mutex mu_;
  bool registered_ = false;  // guarded by mu_
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_OPENVINO_PROVIDER_H_
