// SPDX-License-Identifier: Apache-2.0
// ModelInfer: one ModelInfer call of the inference protocol. See UnaryInfer.
#ifndef NEREID_FRONTENDS_GRPC_MODEL_INFER_H_
#define NEREID_FRONTENDS_GRPC_MODEL_INFER_H_

#include <memory>
#include <utility>

#include "frontends/codec/output_formats.h"
#include "frontends/grpc/received_message.h"
#include "frontends/grpc/unary_infer.h"

namespace nereid {

class ModelInfer final : public UnaryInfer {
 public:
  explicit ModelInfer(Origin origin) : UnaryInfer(std::move(origin)) {}

 private:
  void Take(std::shared_ptr<ReceivedBody> message) override { received_.Take(std::move(message)); }
  absl::StatusOr<bool> ParseAtOnce(Budget* budget) override {
    return received_.ParseAtOnce(budget);
  }
  absl::Status ParseElsewhere(Budget* budget, ThreadPool* executor) override {
    return received_.ParseElsewhere(budget, executor);
  }
  absl::StatusOr<Asked> FindModel() override;
  absl::string_view request_id() const override { return received_.id(); }
  absl::Status Read(InferRequest* request, RequestBuffers* buffers) override {
    return received_.Read(request, buffers, &formats_);
  }
  void Clear() override { received_.Clear(); }
  Outputs MakeOutputs() override;
  absl::StatusOr<OutMessage> Write(std::unique_ptr<InferResponse> response) override;

  ReceivedMessage received_;
  OutputFormats formats_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_MODEL_INFER_H_
