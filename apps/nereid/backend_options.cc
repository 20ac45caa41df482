// SPDX-License-Identifier: Apache-2.0
#include "backend_options.h"

#include <algorithm>

#include "backends/fil/options.h"
#include "backends/generative/options.h"
#include "backends/identity/options.h"
#include "backends/onnxruntime/options.h"
#include "backends/openvino/options.h"
#include "backends/python/options.h"
#include "backends/pytorch/options.h"
#include "backends/repeat/options.h"
#include "backends/tensorflow/options.h"

namespace nereid {
namespace {

using nereid_backend::BackendOptions;
using nereid_backend::OptionRemark;

constexpr const BackendOptions* kAll[] = {
    &nereid_backend::kFilOptions,       &nereid_backend::kGenerativeOptions,
    &nereid_backend::kIdentityOptions,  &nereid_backend::kOnnxruntimeOptions,
    &nereid_backend::kOpenvinoOptions,  &nereid_backend::kPythonOptions,
    &nereid_backend::kPytorchOptions,   &nereid_backend::kRepeatOptions,
    &nereid_backend::kTensorflowOptions};

}  // namespace

std::span<const BackendOptions* const> AllBackendOptions() { return kAll; }

std::vector<ParameterRemark> CheckParametersByTable(
    const std::string& backend, const std::string& model,
    const std::map<std::string, std::string>& parameters) {
  std::vector<ParameterRemark> remarks;
  const auto found = std::find_if(std::begin(kAll), std::end(kAll), [&](const BackendOptions* one) {
    return one->backend == backend;
  });
  if (found == std::end(kAll)) return remarks;
  nereid_backend::OptionValues values((*found)->parameters);
  for (OptionRemark& remark : nereid_backend::ExamineParameters(
           **found, model, {parameters.begin(), parameters.end()}, &values)) {
    ParameterRemark::Level level = ParameterRemark::Level::kNote;
    switch (remark.level) {
      case OptionRemark::Level::kTaken:
        continue;
      case OptionRemark::Level::kNote:
        break;
      case OptionRemark::Level::kWarning:
        level = ParameterRemark::Level::kWarning;
        break;
      case OptionRemark::Level::kError:
        level = ParameterRemark::Level::kProblem;
        break;
    }
    remarks.push_back({level, std::move(remark.option), std::move(remark.text)});
  }
  return remarks;
}

}  // namespace nereid
