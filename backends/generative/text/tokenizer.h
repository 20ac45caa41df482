// SPDX-License-Identifier: Apache-2.0
// Tokenizer: the tokens of a text, and the text of tokens. One thread may encode while another one
// decodes; each of the two is for one thread at a time.
#ifndef NEREID_BACKENDS_GENERATIVE_TEXT_TOKENIZER_H_
#define NEREID_BACKENDS_GENERATIVE_TEXT_TOKENIZER_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/generative/scheduler/block_pool.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // REQUIRES: `text` is UTF-8.
  virtual Result<std::vector<Token>> Encode(std::string_view text) = 0;
  // What ends within a character ends with U+FFFD, or with the bytes that are there. Throws.
  virtual std::string Decode(std::span<const Token> tokens) = 0;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_TEXT_TOKENIZER_H_
