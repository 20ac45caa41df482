// SPDX-License-Identifier: Apache-2.0
// Finds the file of a model. Pure except for looking at the file system.
#ifndef NEREID_BACKENDS_OPENVINO_MODEL_FILE_H_
#define NEREID_BACKENDS_OPENVINO_MODEL_FILE_H_

#include <string>

#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// <model>/<version>/<default_model_filename>, a file or a folder with a SavedModel in it. Without
// default_model_filename the first that exists of model.xml, model.onnx, model.savedmodel,
// model.saved_model, saved_model.pb, model.pb and model.tflite. A folder may also contain a file of
// the kind that its name says: model.onnx/model.onnx. UNAVAILABLE if there is none, INVALID_ARG for
// a folder that contains no model.
Result<std::string> FindModelFile(const ModelConfig& config);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_MODEL_FILE_H_
