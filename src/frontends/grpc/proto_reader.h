// Splits the bytes of a ModelInferRequest into its raw tensors, which stay where they are, and the
// rest of the message, which is small and is parsed by protobuf. Knows only the wire format:
// neither generated messages nor gRPC. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_PROTO_READER_H_
#define NEREID_FRONTENDS_GRPC_PROTO_READER_H_

#include <absl/container/inlined_vector.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace nereid {

// One entry of raw_input_contents: `piece_count` views starting at `first_piece`, none if it is
// empty.
struct RawContent {
  size_t first_piece = 0;
  size_t piece_count = 0;
  uint64_t byte_size = 0;
};

// A message split into parts; views into the buffers that were read. Reusable.
struct SplitInferRequest {
  using Pieces = absl::InlinedVector<absl::string_view, 2>;

  absl::InlinedVector<RawContent, 2> raw_contents;
  Pieces raw_pieces;  // of all raw contents, in order
  // The message without raw_input_contents: a view into one of the buffers, or `header_copy` where
  // `header_pieces` had to be joined.
  absl::string_view header;
  std::string header_copy;
  Pieces header_pieces;

  // Drops all views, so that the buffers may be freed; releases memory beyond what a typical
  // message needs.
  void Clear();
  absl::Span<const absl::string_view> PiecesOf(const RawContent& content) const {
    return absl::MakeConstSpan(raw_pieces).subspan(content.first_piece, content.piece_count);
  }
};

// Reads one message from `buffers`, which may divide it at any place. False if it does not follow
// the wire format; the content of `split` is then unspecified. True does not mean that `header` is
// valid.
bool SplitMessage(absl::Span<const absl::string_view> buffers, SplitInferRequest* split);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_PROTO_READER_H_
