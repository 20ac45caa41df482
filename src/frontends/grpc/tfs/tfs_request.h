// SPDX-License-Identifier: Apache-2.0
// TfsRequest: the message of a Predict, Classify or Regress call of TensorFlow Serving's API, and
// the core's request that it becomes. Thread-compatible.
#ifndef NEREID_FRONTENDS_GRPC_TFS_TFS_REQUEST_H_
#define NEREID_FRONTENDS_GRPC_TFS_TFS_REQUEST_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/threads/thread_pool.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/tfs/tfs_request_reader.h"
#include "frontends/tfs/tfs_servable.h"
#include "infer/infer_request.h"
#include "tensorflow_serving.pb.h"

namespace nereid {

// What the answer to a call has to look like. Points into the request's model.
struct TfsAnswer {
  TfsCall call;
  std::string signature_name;
  std::vector<TfsTensor> outputs;  // those wanted, in the order of the signature
};

// What a message of the API says of the model.
absl::StatusOr<TfsModelSpec> ReadModelSpec(const tensorflow::serving::ModelSpec& spec);

class TfsRequest {
 public:
  explicit TfsRequest(TfsMethod method) : method_(method) {}

  // Whether `bytes` of a message are read in no time, as far as its parser is concerned.
  bool ParsesQuickly(absl::string_view bytes) const;
  // `budget` pays for the message on behalf of `holder`. Errors of ParseCharged.
  absl::Status Parse(absl::string_view bytes, Budget* budget,
                     const std::shared_ptr<Holder>& holder);
  bool parsed() const { return message_ != nullptr; }

  // ---- REQUIRES: parsed()
  // Whether Read takes no time.
  bool ReadsQuickly() const;
  const tensorflow::serving::ModelSpec& model_spec() const;
  // Fills `request` (fresh, for a model), which views this message and `buffers`, and `answer`.
  // INVALID_ARGUMENT for a mistake of the client; `request` must then be discarded.
  absl::Status Read(InferRequest* request, RequestBuffers* buffers, TfsAnswer* answer) const;

  // Drops the message. A thread of `executor`, if that is not null, frees it.
  void Clear(ThreadPool* executor);

 private:
  // The message of Predict, or the input of the others.
  const tensorflow::serving::PredictRequest& predict() const;
  const tensorflow::serving::Input& input() const;

  const TfsMethod method_;
  std::unique_ptr<google::protobuf::Message> message_;
  BudgetUnits units_;  // pay for it
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_TFS_TFS_REQUEST_H_
