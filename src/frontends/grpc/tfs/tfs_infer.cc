// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/tfs/tfs_infer.h"

#include "base/status_macros.h"
#include "frontends/grpc/tfs/tfs_writer.h"

namespace nereid {
namespace {

// Answers' own bytes that a call's fixed cost pays for.
constexpr uint64_t kFreeBytes = 4096;

}  // namespace

absl::StatusOr<bool> TfsInfer::ParseAtOnce(Budget* budget) {
  if (!request_.ParsesQuickly(bytes_->text())) return false;
  RETURN_IF_ERROR(Parse(budget));
  return request_.ReadsQuickly();
}

absl::Status TfsInfer::ParseElsewhere(Budget* budget, ThreadPool* executor) {
  if (request_.parsed()) return absl::OkStatus();
  executor_ = executor;
  return Parse(budget);
}

absl::Status TfsInfer::Parse(Budget* budget) {
  RETURN_IF_ERROR(request_.Parse(bytes_->text(), budget, holder()));
  bytes_.reset();  // what they say is in the request now
  return absl::OkStatus();
}

absl::StatusOr<UnaryInfer::Asked> TfsInfer::FindModel() {
  ASSIGN_OR_RETURN(const TfsModelSpec spec, ReadModelSpec(request_.model_spec()));
  ASSIGN_OR_RETURN(std::shared_ptr<ServingModel> model, FindTfsModel(*environment().server, spec));
  RETURN_IF_ERROR(CheckTfsModel(model->config()));
  // The version that serves stays the same if a request without one is answered by it.
  const bool latest = !spec.version.has_value() && spec.label.empty();
  const int64_t version = latest ? kLatestVersion : model->config().version;
  return Asked{std::move(model), version};
}

absl::StatusOr<OutMessage> TfsInfer::Write(std::unique_ptr<InferResponse> response) {
  TfsWriter writer(*response, answer_);
  ASSIGN_OR_RETURN(const uint64_t size, writer.Measure());
  if (size > kFreeBytes) {
    ASSIGN_OR_RETURN(BudgetUnits units, environment().server->in_flight_bytes()->TakeFor(
                                            holder(), size, ShareUse::kAnswer));
    PayForWriting(std::move(units));
  }
  return OutMessage(writer.Write(), &response);
}

}  // namespace nereid
