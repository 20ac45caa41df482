// SPDX-License-Identifier: Apache-2.0
// OpenAiModel: how one model looks to clients of OpenAI's API: which routes it serves, which of its
// tensors takes or gives what, and which fields of requests it takes. Follows from the model's
// configuration alone, see docs/protocol/openai.md. A plain value.
#ifndef NEREID_FRONTENDS_OPENAI_OPENAI_MODEL_H_
#define NEREID_FRONTENDS_OPENAI_OPENAI_MODEL_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <string>
#include <vector>

#include "config/compiled_model.h"
#include "frontends/openai/chat_format.h"

namespace nereid {

// Names of the parameters of a configuration that are read here.
inline constexpr char kOpenAiTextInput[] = "openai.text_input";
inline constexpr char kOpenAiTextOutput[] = "openai.text_output";
inline constexpr char kOpenAiMessages[] = "openai.messages";
inline constexpr char kOpenAiChatTemplate[] = "openai.chat_template";
inline constexpr char kOpenAiEmbeddings[] = "openai.embeddings";
inline constexpr char kOpenAiTakes[] = "openai.takes";

struct OpenAiModel {
  // INVALID_ARGUMENT if a parameter of the configuration is wrong.
  static absl::StatusOr<OpenAiModel> Of(const CompiledModel& config);

  // Tensors of the model; null: it has none of this kind. They belong to the configuration.
  const InputSpec* text_input = nullptr;
  const InputSpec* messages = nullptr;
  const InputSpec* stream = nullptr;
  const InputSpec* sampling_parameters = nullptr;
  const InputSpec* exclude_input = nullptr;
  const InputSpec* return_num_input_tokens = nullptr;
  const InputSpec* return_num_output_tokens = nullptr;
  const InputSpec* return_finish_reason = nullptr;
  const InputSpec* return_logprobs = nullptr;
  const OutputSpec* text_output = nullptr;
  const OutputSpec* logprobs = nullptr;
  const OutputSpec* embeddings_output = nullptr;

  const ChatFormat* chat_format = nullptr;  // in which messages become a prompt; null: in none
  std::vector<std::string> takes;           // further fields, ascending

  // Routes that it serves.
  bool completions = false;
  bool chat = false;
  bool embeddings = false;

  bool offered() const { return completions || chat || embeddings; }
  // Whether the configuration says that the model takes this field.
  bool Takes(absl::string_view field) const;
  // Whether the frontend itself fills this input.
  bool Fills(const InputSpec* input) const;
};

// Whether a tensor of these dimensions can have a single element (in each item of a batch).
bool TakesOneElement(const Shape& dims);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_OPENAI_OPENAI_MODEL_H_
