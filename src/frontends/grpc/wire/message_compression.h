// SPDX-License-Identifier: Apache-2.0
// Compression of the messages of a gRPC call: what the head fields of the call say, and the
// messages that are sent. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_WIRE_MESSAGE_COMPRESSION_H_
#define NEREID_FRONTENDS_GRPC_WIRE_MESSAGE_COMPRESSION_H_

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <string>

#include "frontends/codec/compression.h"
#include "frontends/grpc/grpc_server_options.h"

namespace nereid {

enum class MessageCoding { kIdentity, kGzip, kDeflate };

// "identity", "gzip" or "deflate": the value of grpc-encoding.
absl::string_view MessageCodingName(MessageCoding coding);

// The same coding where it is that of an HTTP body.
ContentCoding ContentCodingOf(MessageCoding coding);

// The value of grpc-accept-encoding of a server that reads every MessageCoding.
inline constexpr absl::string_view kReadableCodings = "identity, deflate, gzip";

// The value of grpc-encoding; empty, as for a call without this field, means identity.
// UNIMPLEMENTED for any other coding.
absl::StatusOr<MessageCoding> ParseMessageCoding(absl::string_view grpc_encoding);

// Whether a client with this grpc-accept-encoding reads messages in `coding`. Every client reads
// identity.
bool Accepts(absl::string_view grpc_accept_encoding, MessageCoding coding);

// The coding for the answers to a client with this grpc-accept-encoding. Clients of the gRPC
// library accept both codings, and see gzip for kLow and deflate for kMedium and kHigh, as the
// library itself chooses.
MessageCoding ChooseMessageCoding(GrpcCompression level, absl::string_view grpc_accept_encoding);

// The concatenation of `pieces`, compressed. Asks `wanted` from time to time whether the result is
// still wanted: CANCELLED if it is not. INTERNAL if zlib fails. The result may be longer than the
// message. kLow takes less time than the other levels, which are the same, and makes more bytes.
absl::StatusOr<std::string> CompressMessage(MessageCoding coding, GrpcCompression level,
                                            absl::Span<const absl::string_view> pieces,
                                            absl::FunctionRef<bool()> wanted);
absl::StatusOr<std::string> CompressMessage(MessageCoding coding, GrpcCompression level,
                                            absl::Span<const absl::string_view> pieces);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_WIRE_MESSAGE_COMPRESSION_H_
