// SPDX-License-Identifier: Apache-2.0
// Configurations from protobuf text. Stateless; thread-safe.
#ifndef NEREID_CONFIG_PARSE_H_
#define NEREID_CONFIG_PARSE_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <string>

namespace nereid::inference {
class ModelConfig;
}

namespace nereid {

// Parses `text`, the content of the file `path`, into `config`. INVALID_ARGUMENT with one line
// `<path>:<line>:<column>: <text of protobuf>` per error, in the order of the text. Unknown names
// of fields and enumeration values and bad integers are all found; a syntax error ends the search.
// If a known name is near, the line ends in "(did you mean '...'?)". After an error `config` is
// unspecified.
absl::Status ParseModelConfigText(const std::string& path, absl::string_view text,
                                  inference::ModelConfig* config);

// The offset in `text` of the place that protobuf's parser calls (line, column), both from 0.
size_t OffsetOf(absl::string_view text, int line, int column);

}  // namespace nereid

#endif  // NEREID_CONFIG_PARSE_H_
