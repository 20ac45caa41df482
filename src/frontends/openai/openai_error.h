// SPDX-License-Identifier: Apache-2.0
// Errors in the form of OpenAI's API: {"error":{"message":...,"type":...,"param":...,"code":...}}.
// Inside they are absl::Status, with the field that is wrong and a code for programs as payloads.
// Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_OPENAI_OPENAI_ERROR_H_
#define NEREID_FRONTENDS_OPENAI_OPENAI_ERROR_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <string>

namespace nereid {

// INVALID_ARGUMENT about the field `param` of a request.
absl::Status OpenAiFieldError(absl::string_view param, absl::string_view message);
// `error` with the code that programs look at: "model_not_found".
absl::Status WithOpenAiCode(absl::Status error, absl::string_view code);

// The object as a whole; `http_status` decides the type.
std::string OpenAiErrorJson(int http_status, const absl::Status& error);

// Gives `*text`, the body of an answer with `http_status`, OpenAI's form if it has the form
// {"error":"<message>"} of all other routes.
void ToOpenAiErrorForm(int http_status, std::string* text);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_OPENAI_OPENAI_ERROR_H_
