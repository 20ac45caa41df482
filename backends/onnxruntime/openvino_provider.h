// The execution provider of ONNX Runtime that computes with OpenVINO: a plug-in library, which lies
// beside the backend openvino. Compiled against a newer header of the runtime than the rest of this
// folder, so it shares no types of the C++ interface with it.
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

  // `folder`: of the backend openvino.
  explicit OpenVinoProvider(std::string folder) : folder_(std::move(folder)) {}

  // Has the session that `options` are for compute on the CPU by OpenVINO what that can. The
  // plug-in is loaded at the first call. UNSUPPORTED, with what brings or hinders it, when it can
  // not be had.
  Error Append(OrtEnv* env, OrtSessionOptions* options, const Options& settings);

 private:
  Error Register(OrtEnv* env);

  const std::string folder_;
  std::mutex mu_;
  bool registered_ = false;  // guarded by mu_
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_ONNXRUNTIME_OPENVINO_PROVIDER_H_
