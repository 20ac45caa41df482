// SPDX-License-Identifier: Apache-2.0
// The names that requests for administration may use. Any other one is refused by name, because
// what is misspelt would otherwise have no effect, in silence. Pure function, thread-safe.
#ifndef NEREID_FRONTENDS_CODEC_KNOWN_NAMES_H_
#define NEREID_FRONTENDS_CODEC_KNOWN_NAMES_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <string>

namespace nereid {

// "unknown log setting 'log_inf', did you mean 'log_info'? Known: log_info, ..." if `name` is none
// of `known`; INVALID_ARGUMENT. `what` describes a name.
// `meant` is what the name is taken for; empty: the most similar one.
absl::Status CheckKnown(absl::string_view what, absl::string_view name,
                        absl::Span<const absl::string_view> known, absl::string_view meant = "");

// `name` in quotes, cut if it is very long: for error texts.
std::string QuotedName(absl::string_view name);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_KNOWN_NAMES_H_
