// SPDX-License-Identifier: Apache-2.0
// A module with functions of its own that bear the names of functions of the server: of a class
// that protoc makes of the public model_config.proto, and of the server's private interface.
namespace inference {
class ModelConfig {
 public:
  void Clear();
};
void ModelConfig::Clear() { *reinterpret_cast<int*>(this) = 1; }
}  // namespace inference

namespace nereid {
int CheckConfigVersion(unsigned config_version);
int CheckConfigVersion(unsigned config_version) { return static_cast<int>(config_version) + 1; }
}  // namespace nereid

// Whether both of the module's own functions run.
extern "C" bool UseModule() {
  int cleared = 0;
  reinterpret_cast<inference::ModelConfig*>(&cleared)->Clear();
  return cleared == 1 && nereid::CheckConfigVersion(41) == 42;
}
