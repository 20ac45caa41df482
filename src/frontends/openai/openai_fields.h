// SPDX-License-Identifier: Apache-2.0
// The table of the fields of OpenAI's requests: what becomes of each. Immutable.
#ifndef NEREID_FRONTENDS_OPENAI_OPENAI_FIELDS_H_
#define NEREID_FRONTENDS_OPENAI_OPENAI_FIELDS_H_

#include <absl/strings/string_view.h>

#include <cstdint>

#include "frontends/codec/json_access.h"
#include "frontends/openai/openai_request.h"

namespace nereid {

enum class OpenAiFieldKind : uint8_t {
  // ---- The frontend reads it.
  kModel,
  kStream,
  kStreamOptions,
  kPrompt,
  kMessages,
  kInput,
  kEcho,
  kN,
  kEncodingFormat,
  kLogprobs,
  kTopLogprobs,
  kUser,
  // ---- The model gets it: in an input of its own, or in sampling_parameters.
  kInteger,
  kNumber,
  kStop,
  // ---- The model gets it in the same way if its configuration says that it takes it.
  kIfTaken,
  // ---- Nobody takes it.
  kNever,
};

struct OpenAiField {
  const char* name;
  OpenAiFieldKind kind;
  uint8_t routes;  // see OfRoute
  // kInteger, kNumber: the smallest and the largest value.
  double least = 0;
  double most = 0;
  // Its name in sampling_parameters, and for an input; null: that of the field.
  const char* sampling_name = nullptr;
  // Of an input besides; null: there is none.
  const char* input_name = nullptr;
  // kLogprobs, kIfTaken, kNever: values that ask for nothing, separated by commas, besides null:
  // false, true, 0, 1, empty (a text, a list or an object), or a word that the value is or holds
  // alone.
  const char* harmless = "";

  bool OfRoute(OpenAiRoute route) const { return (routes >> static_cast<int>(route) & 1) != 0; }
  // Whether `value` asks for nothing.
  bool SaysNothing(const JsonValue& value) const;
};

// Null if the API has no such field on this route.
const OpenAiField* FindOpenAiField(OpenAiRoute route, absl::string_view name);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_OPENAI_OPENAI_FIELDS_H_
