// SPDX-License-Identifier: Apache-2.0
// What the files beside a network tell of it, as optimum and Hugging Face's libraries write them.
// Pure but for reading files.
#ifndef NEREID_BACKENDS_GENERATIVE_NOTES_H_
#define NEREID_BACKENDS_GENERATIVE_NOTES_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backends/generative/scheduler/block_pool.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

struct ModelNotes {
  int64_t context = 0;            // prompt and new tokens together; 0: unknown
  std::vector<Token> end_tokens;  // which end a sequence
  std::string chat_template;      // in Jinja
};

// From generation_config.json, config.json, chat_template.jinja and tokenizer_config.json, as far
// as they are there. INVALID_ARG if one is not JSON.
Result<ModelNotes> ReadModelNotes(const std::filesystem::path& folder);

// The built-in chat template of the OpenAI routes whose marks `chat_template` uses: "chatml",
// "llama3" or "mistral"; "": none.
std::string_view ChatFormatOf(std::string_view chat_template);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_NOTES_H_
