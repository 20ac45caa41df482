// SPDX-License-Identifier: Apache-2.0
// Text that comes from outside and becomes a name, a label of a metric, a path, a line of a log or
// a string of protobuf, which has to be UTF-8. Pure functions, thread-safe.
#ifndef NEREID_BASE_OUTSIDE_TEXT_H_
#define NEREID_BASE_OUTSIDE_TEXT_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <string>

#include "base/export.h"

namespace nereid {

// Bytes of the valid UTF-8 sequence at the front of `text` (RFC 3629: no overlong forms, no
// surrogates, nothing above U+10FFFF); 0 if there is none. REQUIRES: `text` is not empty.
NEREID_API size_t Utf8SequenceLength(absl::string_view text);
NEREID_API bool IsValidUtf8(absl::string_view text);
// `text` if it is UTF-8, otherwise a copy in `*memory` with U+FFFD for each byte that is not.
NEREID_API absl::string_view ToUtf8(absl::string_view text, std::string* memory);

// `text` with control characters and bytes that are not UTF-8 as \xNN, and cut when it is long.
NEREID_API std::string EscapedText(absl::string_view text);

// File systems take no longer names.
inline constexpr size_t kMostNameBytes = 255;

// Why `text` cannot be a name: it "must not contain control characters", "must be UTF-8" or "must
// not have more than 255 bytes"; empty if it can.
NEREID_API std::string WhyNoName(absl::string_view text, size_t most_bytes = kMostNameBytes);
// INVALID_ARGUMENT if there is such a reason: "invalid `what` 'a\x00b', `what` must not ...".
NEREID_API absl::Status CheckOutsideName(absl::string_view what, absl::string_view text,
                                         size_t most_bytes = kMostNameBytes);

}  // namespace nereid

#endif  // NEREID_BASE_OUTSIDE_TEXT_H_
