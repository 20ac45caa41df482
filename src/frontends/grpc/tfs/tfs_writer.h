// SPDX-License-Identifier: Apache-2.0
// TfsWriter: the bytes of the answer to a call of TensorFlow Serving's API, as pieces: the
// message's own bytes, and output tensors in the place where the backend wrote them. Elements are
// in the field of their type, where clients look for them. Thread-compatible.
#ifndef NEREID_FRONTENDS_GRPC_TFS_TFS_WRITER_H_
#define NEREID_FRONTENDS_GRPC_TFS_TFS_WRITER_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <string>
#include <vector>

#include "frontends/grpc/proto_writer.h"
#include "frontends/grpc/tfs/tfs_request.h"
#include "frontends/tfs/tfs_outputs.h"
#include "infer/response.h"

namespace nereid {

class TfsWriter {
 public:
  // Both outlive the writer.
  TfsWriter(const InferResponse& response, const TfsAnswer& answer)
      : response_(response), answer_(answer) {}

  // The bytes that the message will have of its own. Called first. INTERNAL for outputs that do not
  // fit the signature, or a message larger than gRPC can carry.
  absl::StatusOr<uint64_t> Measure();
  // The message's pieces in order, valid as long as writer and response. REQUIRES: Measure has
  // succeeded.
  absl::Span<const WirePiece> Write();

 private:
  // How long the parts of an output's message are.
  struct Sizes {
    uint64_t packed = 0;  // numbers in their field, without its tag
    uint64_t values = 0;  // all elements, with tags
    uint64_t shape = 0;
    uint64_t tensor = 0;
    bool of_response = false;  // the elements stay where they are
  };

  static Sizes SizesOf(const TfsOutput& output);
  uint64_t MeasureOutputs();
  absl::StatusOr<uint64_t> MeasureResult();
  void WriteOutput(const TfsOutput& output, const Sizes& sizes);
  void WriteClassifications();
  void WriteRegressions();
  // The pieces so far end here.
  void Cut();

  const InferResponse& response_;
  const TfsAnswer& answer_;
  std::vector<TfsOutput> outputs_;
  std::vector<Sizes> sizes_;  // of predictions
  TfsClasses classes_;        // of classifications
  uint64_t result_size_ = 0;  // of classifications and regressions
  std::string model_spec_;
  std::string own_;  // reserved, so that pieces may view it while it grows
  size_t piece_start_ = 0;
  std::vector<WirePiece> pieces_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_TFS_TFS_WRITER_H_
