// SPDX-License-Identifier: Apache-2.0
// Parameters of requests from parsed JSON, and of responses to JSON text. Pure functions.
#ifndef NEREID_FRONTENDS_CODEC_JSON_PARAMETER_H_
#define NEREID_FRONTENDS_CODEC_JSON_PARAMETER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include "base/json_writer.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/non_finite.h"
#include "model/parameter.h"

namespace nereid {

// INVALID_ARGUMENT if the value is not a string, boolean or number.
absl::StatusOr<Parameter> ReadJsonParameter(absl::string_view key, const JsonValue& value);

// INVALID_ARGUMENT if the value is no text of NonFinite.
absl::StatusOr<NonFinite> ReadNonFinite(const JsonValue& value);

// Writes the name and the value. INVALID_ARGUMENT for a value without JSON form: a number that is
// not finite if `non_finite` refuses it, text that is not UTF-8.
absl::Status WriteJsonParameter(absl::string_view name, const ParameterValue& value,
                                NonFinite non_finite, JsonWriter* json);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_JSON_PARAMETER_H_
