// SPDX-License-Identifier: Apache-2.0
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
  // JoinHeader had to join `header_pieces`.
  absl::string_view header;
  std::string header_copy;
  Pieces header_pieces;

  uint64_t header_size() const;
  // Memory that the lists above take beyond that of this object, and that JoinHeader will.
  uint64_t byte_cost() const;

  // Drops all views, so that the buffers may be freed; releases memory beyond what a typical
  // message needs.
  void Clear();
  absl::Span<const absl::string_view> PiecesOf(const RawContent& content) const {
    return absl::MakeConstSpan(raw_pieces).subspan(content.first_piece, content.piece_count);
  }
};

enum class SplitEnd {
  kWhole,          // all was read; `header` may be invalid all the same
  kMalformed,      // the message does not follow the wire format
  kTooManyFields,  // it has more fields than were to be read
};

// Reads one message from `buffers`, which may divide it at any place, but not more than
// `most_fields` of its fields, those of groups included. Leaves the header in pieces. The content
// of `split` is unspecified unless the whole was read.
SplitEnd SplitMessage(absl::Span<const absl::string_view> buffers, uint64_t most_fields,
                      SplitInferRequest* split);
// Makes `header` of the pieces. Copies them if they are several.
void JoinHeader(SplitInferRequest* split);
// Both, for a message of any number of fields. False if it does not follow the wire format.
inline bool SplitMessage(absl::Span<const absl::string_view> buffers, SplitInferRequest* split) {
  if (SplitMessage(buffers, UINT64_MAX, split) != SplitEnd::kWhole) return false;
  JoinHeader(split);
  return true;
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_PROTO_READER_H_
