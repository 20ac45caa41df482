// SPDX-License-Identifier: Apache-2.0
#include "frontends/tfs/tfs_servable.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include "base/status_macros.h"
#include "frontends/codec/request_limits.h"
#include "frontends/tfs/tfs_reports.h"

namespace nereid {

absl::StatusOr<std::optional<int64_t>> TfsVersion(const Server& server, const TfsModelSpec& spec) {
  if (spec.version.has_value() || spec.label.empty()) return spec.version;
  const auto latest = server.FindModel(spec.name, kLatestVersion);
  if (absl::IsNotFound(latest.status())) return TfsNotFound(spec.name, std::nullopt);
  if (!latest.ok()) return latest.status();
  const auto& labels = (*latest)->config().tfs.version_labels;
  const auto version = labels.find(spec.label);
  if (version != labels.end()) return version->second;
  return absl::InvalidArgumentError(
      absl::StrCat("Unrecognized servable version label: ", spec.label.substr(0, kMaxNameBytes)));
}

absl::StatusOr<std::shared_ptr<ServingModel>> FindTfsModel(const Server& server,
                                                           const TfsModelSpec& spec) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> version, TfsVersion(server, spec));
  // Such a number means the latest elsewhere.
  if (version.has_value() && *version < 0) return TfsNotFound(spec.name, version);
  auto model = server.FindModel(spec.name, version.value_or(kLatestVersion));
  if (absl::IsNotFound(model.status())) return TfsNotFound(spec.name, version);
  return model;
}

absl::Status CheckTfsModel(const CompiledModel& model) {
  if (!model.decoupled) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("the model '", model.name,
                   "' may send several responses, which this API cannot: use generate_stream or "
                   "ModelStreamInfer"));
}

}  // namespace nereid
