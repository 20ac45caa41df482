#include "lifecycle/member_resolver.h"

#include <string>
#include <utility>

#include "infer/infer_request.h"

namespace nereid {

absl::StatusOr<std::shared_ptr<ServingModel>> MemberResolver::Resolve(const EnsembleStep& step,
                                                                      const InferRequest* request) {
  const ModelDirectory& directory = catalogue_.Directory();
  const ModelEntry* const entry = directory.FindMember(step.space, step.model_name);
  absl::StatusOr<std::shared_ptr<ManagedModel>> model =
      entry == nullptr ? directory.Find(step.model_name, step.model_version)  // returns the error
                       : ModelDirectory::FindVersion(*entry, step.model_name, step.model_version);
  // A sequence stays with the version that it began with.
  if (entry != nullptr && request != nullptr && request->correlation_id().present() &&
      (request->flags() & kRequestFlagSequenceStart) == 0 &&
      !(model.ok() && (*model)->HasSequence(request->correlation_id()))) {
    std::shared_ptr<ManagedModel> home =
        ModelDirectory::FindSequence(*entry, step.model_version, request->correlation_id());
    if (home != nullptr) return std::shared_ptr<ServingModel>(std::move(home));
  }
  if (!model.ok()) return model.status();
  return std::shared_ptr<ServingModel>(*std::move(model));
}

ModelResolver::Found MemberResolver::LookUp(const EnsembleStep& step) {
  const ModelEntry* const entry = catalogue_.Directory().FindMember(step.space, step.model_name);
  if (entry == nullptr) return {nullptr, Missing::kUnknown, absl::OkStatus()};
  auto found = ModelDirectory::FindVersion(*entry, step.model_name, step.model_version);
  if (found.ok()) return {*std::move(found), Missing::kNothing, absl::OkStatus()};
  if (entry->versions.empty()) {
    return {nullptr, Missing::kInvalid, absl::InvalidArgumentError(entry->reason)};
  }
  if (ModelDirectory::FindVersion(*entry, step.model_name, -1).ok()) {
    return {nullptr, Missing::kVersionNotReady, absl::OkStatus()};
  }
  std::string error = catalogue_.LastError(entry->id);
  return {nullptr, Missing::kNotLoaded,
          error.empty() ? absl::OkStatus() : absl::InvalidArgumentError(std::move(error))};
}

}  // namespace nereid
