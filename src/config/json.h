// SPDX-License-Identifier: Apache-2.0
// Configurations as JSON (configuration version 1). Stateless; thread-safe. Outside of this folder
// everybody reads CompiledModel, but for the gRPC frontend, which answers with the message itself.
#ifndef NEREID_CONFIG_JSON_H_
#define NEREID_CONFIG_JSON_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <string>

#include "base/export.h"

namespace nereid::inference {
class ModelConfig;
}

namespace nereid {

// INVALID_ARGUMENT for any version of the JSON form other than 1.
NEREID_API absl::Status CheckConfigVersion(uint32_t config_version);

// Field names as in model_config.proto; fields without a value are printed with their default,
// except messages that are not set. 64-bit integers are strings, as protobuf prescribes, except
// those that clients read as numbers. Equal configurations give equal text. The empty configuration
// gives the empty text.
std::string ModelConfigToJson(const inference::ModelConfig& config);

// Replaces `config`. INVALID_ARGUMENT with the text of the parser, also for unknown fields;
// names of enumeration values may be in any case. `config` is then unspecified.
absl::Status ModelConfigFromJson(absl::string_view json, inference::ModelConfig* config);

// The same configuration as a serialised message: nobody else has its class (proto/CMakeLists.txt).
NEREID_API absl::StatusOr<std::string> ModelConfigBytesFromJson(absl::string_view json);

}  // namespace nereid

#endif  // NEREID_CONFIG_JSON_H_
