// Splits the bytes of a ModelInferRequest into its raw tensors, left where they lie, and the rest
// of the message, small and for protobuf to parse. Knows the wire format only: neither generated
// messages nor gRPC. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_PROTO_READER_H_
#define NEREID_FRONTENDS_GRPC_PROTO_READER_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nereid {

// One entry of raw_input_contents: `piece_count` views from `first_piece` on, none if it is empty.
struct RawContent {
  size_t first_piece = 0;
  size_t piece_count = 0;
  uint64_t byte_size = 0;
};

// A message taken apart; views into the buffers that were read. Reusable.
struct SplitInferRequest {
  std::vector<RawContent> raw_contents;
  std::vector<absl::string_view> raw_pieces;  // of all raw contents, in order
  // The message without raw_input_contents: views one of the buffers, or `header_copy` where
  // `header_pieces` had to be joined.
  absl::string_view header;
  std::string header_copy;
  std::vector<absl::string_view> header_pieces;

  // Forgets everything, so that the buffers may go; gives back memory beyond a usual message's.
  void Clear();
  absl::Span<const absl::string_view> PiecesOf(const RawContent& content) const {
    return absl::MakeConstSpan(raw_pieces).subspan(content.first_piece, content.piece_count);
  }
};

// Reads one message that lies in `buffers`, cut at any places. False if it is not in the wire
// format; what `split` holds is then unspecified. A true does not say that `header` is valid.
bool SplitMessage(absl::Span<const absl::string_view> buffers, SplitInferRequest* split);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_PROTO_READER_H_
