// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/model_file.h"

#include <filesystem>

#include "backends/sdk/model_file.h"

namespace nereid_backend {
namespace {

constexpr const char* kSavedModel = "saved_model.pb";
// Tried in this order.
constexpr const char* kDefaultNames[] = {"model.xml",         "model.onnx", "model.savedmodel",
                                         "model.saved_model", kSavedModel,  "model.pb",
                                         "model.tflite"};

// The path that the runtime has to read for `path`. REQUIRES: `path` exists.
Result<std::string> Resolve(const std::filesystem::path& path, const std::string& model) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) {
    // A SavedModel is read as a folder, which also contains the variables.
    return path.filename() == kSavedModel ? path.parent_path().string() : path.string();
  }
  if (std::filesystem::exists(path / kSavedModel, ignored)) return path.string();
  for (const char* name : {"model.xml", "model.onnx", "model.tflite"}) {
    const std::filesystem::path inner = path / name;
    if (inner.extension() == path.extension() && std::filesystem::is_regular_file(inner, ignored)) {
      return inner.string();
    }
  }
  return Error::InvalidArg(StrCat("unable to load model '", model, "': '", path.string(),
                                  "' is a folder without ", kSavedModel));
}

}  // namespace

Result<std::string> FindModelFile(const ModelConfig& config) {
  NB_ASSIGN_OR_RETURN(const std::filesystem::path path,
                      FindModelFile(config, kDefaultNames,
                                    ", nor a file of another kind that OpenVINO reads; set "
                                    "default_model_filename where it has another name"));
  return Resolve(path, config.name);
}

}  // namespace nereid_backend
