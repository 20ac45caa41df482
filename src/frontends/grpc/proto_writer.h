// ProtoWriter: the bytes of a ModelInferResponse, alone or in the envelope of a stream, as pieces:
// the message's own bytes, and output tensors where the backend wrote them. Reusable.
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
#include "grpc_service.pb.h"
#include "infer/response.h"

namespace nereid {

struct WirePiece {
  absl::string_view bytes;
  bool of_response = false;  // lies in a buffer of the response, not of the writer
};

class ProtoWriter {
 public:
  // Tensors up to this size are copied between the message's own bytes: that costs less than a
  // piece of its own.
  static constexpr size_t kCopiedBytes = 4096;

  // The message's pieces in order. Valid until the next call, those of the response as long as it
  // lives. Errors of ClassifyOutput; INTERNAL for a message larger than gRPC can carry.
  absl::StatusOr<absl::Span<const WirePiece>> Write(const InferResponse& response,
                                                    const OutputFormats& formats);
  // The same as ModelStreamInferResponse, with the parameter `triton_final_response`.
  absl::StatusOr<absl::Span<const WirePiece>> WriteStreamed(const InferResponse& response,
                                                            const OutputFormats& formats,
                                                            bool is_final);
  // Forgets the last message; gives back memory beyond a usual message's.
  void Clear();

 private:
  // A tensor as it goes into raw_output_contents; a view.
  struct RawOutput {
    absl::string_view bytes;
    bool of_response = false;
  };

  // All of the message but its raw contents, into message_ and raw_.
  absl::Status Fill(const InferResponse& response, const OutputFormats& formats);
  absl::Status AddOutput(const InferResponse& response, const ResponseOutput& output,
                         uint64_t classification);
  // INTERNAL for a message larger than gRPC can carry.
  absl::StatusOr<absl::Span<const WirePiece>> MakePieces(bool streamed);

  inference::ModelInferResponse message_;  // all but the raw contents
  std::vector<Classification> classified_;
  std::vector<RawOutput> raw_;
  std::string own_bytes_;
  std::vector<WirePiece> pieces_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_PROTO_WRITER_H_
