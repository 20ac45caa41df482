// SPDX-License-Identifier: Apache-2.0
// TfsInfer: one Predict, Classify or Regress call of TensorFlow Serving's API. See UnaryInfer.
#ifndef NEREID_FRONTENDS_GRPC_TFS_TFS_INFER_H_
#define NEREID_FRONTENDS_GRPC_TFS_TFS_INFER_H_

#include <memory>
#include <utility>

#include "frontends/grpc/tfs/tfs_request.h"
#include "frontends/grpc/unary_infer.h"

namespace nereid {

class TfsInfer final : public UnaryInfer {
 public:
  TfsInfer(Origin origin, TfsMethod method) : UnaryInfer(std::move(origin)), request_(method) {}

 private:
  void Take(std::shared_ptr<ReceivedBody> message) override { bytes_ = std::move(message); }
  absl::StatusOr<bool> ParseAtOnce(Budget* budget) override;
  absl::Status ParseElsewhere(Budget* budget, ThreadPool* executor) override;
  absl::StatusOr<Asked> FindModel() override;
  absl::Status Read(InferRequest* request, RequestBuffers* buffers) override {
    return request_.Read(request, buffers, &answer_);
  }
  void Clear() override {
    bytes_.reset();
    request_.Clear(executor_);
  }
  // Bytes that their lender may change could not be measured.
  Outputs MakeOutputs() override { return &environment().allocators.heap; }
  absl::StatusOr<OutMessage> Write(std::unique_ptr<InferResponse> response) override;

  absl::Status Parse(Budget* budget);

  std::shared_ptr<ReceivedBody> bytes_;  // until they are parsed
  TfsRequest request_;
  TfsAnswer answer_;                // constant once read
  ThreadPool* executor_ = nullptr;  // that frees the request; null: it needs none
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_TFS_TFS_INFER_H_
