// SPDX-License-Identifier: Apache-2.0
// Feeds arbitrary bytes as a configuration, as text and as JSON, through completion, checks and
// compilation. Nothing may crash, and a configuration that compiles must be readable from its own
// JSON.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "config/load_config.h"
#include "filesystem/fake_file_system.h"

namespace {

using nereid::CompiledModel;
using nereid::ConfigSource;
using nereid::FakeFileSystem;
using nereid::ParsedConfig;

// The JSON of the compiled form of `source`, or "".
std::string Compile(const FakeFileSystem& fs, const ConfigSource& source) {
  absl::StatusOr<ParsedConfig> config = LoadModelConfig(fs, source);
  if (!config.ok() || !config->NormalizeInstanceGroups({}).ok()) return "";
  const absl::StatusOr<CompiledModel> model = config->Compile(1);
  if (!model.ok()) return "";
  if (model->json != config->Json()) std::abort();
  return model->json;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  FakeFileSystem fs;
  fs.WriteFile("/models/m/config.pbtxt", bytes);
  fs.WriteFile("/models/m/1/model.onnx", "");
  ConfigSource source;
  source.model_dir = "/models/m";
  source.expected_name = "m";
  const std::string from_text = Compile(fs, source);

  source.override_json = bytes;
  (void)Compile(fs, source);
  if (!from_text.empty()) {
    source.override_json = from_text;
    if (Compile(fs, source) != from_text) std::abort();
  }
  return 0;
}
