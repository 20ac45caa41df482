// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/options.h"

#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

Error LogRemarks(const std::vector<OptionRemark>& remarks) {
  for (const OptionRemark& remark : remarks) {
    switch (remark.level) {
      case OptionRemark::Level::kError:
        return Error::InvalidArg(remark.text);
      case OptionRemark::Level::kWarning:
        NB_LOG_WARNING(remark.text);
        break;
      case OptionRemark::Level::kNote:
      case OptionRemark::Level::kTaken:
        NB_LOG_INFO(remark.text);
        break;
    }
  }
  return Error();
}

}  // namespace

Result<OptionValues> ReadParameters(const BackendOptions& options, const ModelConfig& config) {
  GivenOptions given;
  for (const auto& [name, json] : config.json["parameters"].members()) {
    given.emplace_back(name, json["string_value"].AsString());
  }
  OptionValues values(options.parameters);
  NB_RETURN_IF_ERROR(LogRemarks(ExamineParameters(options, config.name, given, &values)));
  return values;
}

Result<OptionValues> ReadSettings(const BackendOptions& options, const Json& cmdline,
                                  std::string_view backend) {
  GivenOptions given;
  for (const auto& [name, value] : cmdline.members()) given.emplace_back(name, value.AsString());
  OptionValues values(options.settings);
  std::vector<OptionRemark> remarks =
      ExamineSettings(options, backend.empty() ? options.backend : backend, given, &values);
  // Most are the server's own, which are always given.
  std::erase_if(remarks, [](const OptionRemark& remark) {
    return remark.level == OptionRemark::Level::kTaken;
  });
  NB_RETURN_IF_ERROR(LogRemarks(remarks));
  return values;
}

int64_t DefaultMaxBatchSize(const OptionValues& settings) {
  return settings.Integer("default-max-batch-size").value_or(4);
}

}  // namespace nereid_backend
