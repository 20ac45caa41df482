// SPDX-License-Identifier: Apache-2.0
// Reads the parameters of a query: "since=5&limit=10". Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_QUERY_H_
#define NEREID_FRONTENDS_HTTP_QUERY_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <string>

namespace nereid {

// INVALID_ARGUMENT for a parameter that is none of `names`, and for one that comes twice.
absl::Status CheckParameters(absl::string_view query, absl::Span<const absl::string_view> names);
// The decoded value; empty if the query has no such parameter.
std::string TextParameter(absl::string_view query, absl::string_view name);
// The value as a number, `absent` if the query has no such parameter. INVALID_ARGUMENT if it is no
// number, or above `most`.
absl::StatusOr<uint64_t> NumberParameter(absl::string_view query, absl::string_view name,
                                         uint64_t absent, uint64_t most);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_QUERY_H_
