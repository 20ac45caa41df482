// Converts parsed JSON to a request parameter. Pure function.
#ifndef NEREID_FRONTENDS_CODEC_JSON_PARAMETER_H_
#define NEREID_FRONTENDS_CODEC_JSON_PARAMETER_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include "frontends/codec/json_access.h"
#include "model/parameter.h"

namespace nereid {

// INVALID_ARGUMENT if the value is not a string, boolean or number.
absl::StatusOr<Parameter> ReadJsonParameter(absl::string_view key, const JsonValue& value);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_JSON_PARAMETER_H_
