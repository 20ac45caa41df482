// SPDX-License-Identifier: Apache-2.0
// What the head fields of a gRPC call say: timeout, content type, status message and binary
// metadata. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_WIRE_CALL_HEAD_H_
#define NEREID_FRONTENDS_GRPC_WIRE_CALL_HEAD_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"

namespace nereid {

// Longer timeouts are taken for this one, about a century, which can still be added to any time.
inline constexpr Duration kLongestTimeout = std::chrono::hours(24 * 365 * 100);

// The value of grpc-timeout: 1 to 8 digits and one of the units H, M, S, m, u and n. None if
// `value` is empty, as for a call without this field; INVALID_ARGUMENT for anything else.
absl::StatusOr<std::optional<Duration>> ParseTimeout(absl::string_view value);

// Whether the content type of a request is gRPC's, with or without the name of a message format or
// parameters: "application/grpc", "application/grpc+proto". Letter case does not count.
bool IsGrpcContentType(absl::string_view content_type);

// Names of the fields that may stand in the head of a call with one value: of two, a proxy in front
// might take the other one. A name that ends in '-' stands for all that begin so.
absl::Span<const absl::string_view> SingleFields();
bool IsSingleField(absl::string_view name);

// INVALID_ARGUMENT if the field `name` with the value `value` stands in the same head with another
// value, `first`, before. REQUIRES: IsSingleField(name).
absl::Status CheckRepeated(absl::string_view name, absl::string_view first,
                           absl::string_view value);

// A status message as the value of grpc-message: `%` and all bytes other than printable ASCII
// become %XX.
std::string EncodeStatusMessage(absl::string_view text);

// The value of a metadata field whose name ends in "-bin": base64 without padding.
std::string EncodeBinaryMetadata(absl::string_view bytes);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_WIRE_CALL_HEAD_H_
