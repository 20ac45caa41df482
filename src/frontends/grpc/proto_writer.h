// SPDX-License-Identifier: Apache-2.0
// ProtoWriter: the bytes of a ModelInferResponse, alone or inside a stream's message, as pieces:
// the message's own bytes, and output tensors in the place where the backend wrote them. Reusable.
// Thread-compatible.
#ifndef NEREID_FRONTENDS_GRPC_PROTO_WRITER_H_
#define NEREID_FRONTENDS_GRPC_PROTO_WRITER_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <string>
#include <vector>

#include "frontends/codec/classification.h"
#include "frontends/codec/output_formats.h"
#include "infer/response.h"

namespace nereid {

struct WirePiece {
  absl::string_view bytes;
  bool of_response = false;  // is in a buffer of the response, not of the writer
};

class ProtoWriter {
 public:
  // Tensors up to this size are copied into the message's own bytes, which costs less than a
  // separate piece.
  static constexpr size_t kCopiedBytes = 4096;

  // The message's pieces in order. Valid until the next call; pieces of the response are valid as
  // long as the response lives. Errors of ClassifyOutput; INTERNAL for a message larger than gRPC
  // can carry.
  absl::StatusOr<absl::Span<const WirePiece>> Write(const InferResponse& response,
                                                    const OutputFormats& formats);
  // The same as a ModelStreamInferResponse, with the parameter `triton_final_response`.
  absl::StatusOr<absl::Span<const WirePiece>> WriteStreamed(const InferResponse& response,
                                                            const OutputFormats& formats,
                                                            bool is_final);
  // Drops the last message; releases memory beyond what a typical message needs.
  void Clear();

 private:
  // A tensor in the form of raw_output_contents; a view.
  struct RawOutput {
    absl::string_view bytes;
    bool of_response = false;
  };

  // Writes everything except the raw contents into message_ and raw_.
  absl::Status Fill(const InferResponse& response, const OutputFormats& formats);
  absl::Status AddOutput(const InferResponse& response, const ResponseOutput& output,
                         uint64_t classification);
  // INTERNAL for a message larger than gRPC can carry.
  absl::StatusOr<absl::Span<const WirePiece>> MakePieces(bool streamed);

  const std::string* model_ = nullptr;  // name, of the response being written
  std::string message_;                 // all fields of the response except the raw contents
  std::vector<Classification> classified_;
  std::vector<RawOutput> raw_;
  std::string own_bytes_;
  std::vector<WirePiece> pieces_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_PROTO_WRITER_H_
