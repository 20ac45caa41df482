// SPDX-License-Identifier: Apache-2.0
// TextStream: the text of a sequence, while its tokens come. Gives only whole characters, valid
// UTF-8, and nothing that may turn out to be part of a stop string. Thread-compatible.
#ifndef NEREID_BACKENDS_GENERATIVE_TEXT_TEXT_STREAM_H_
#define NEREID_BACKENDS_GENERATIVE_TEXT_TEXT_STREAM_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/generative/scheduler/block_pool.h"

namespace nereid_backend {

class TextStream {
 public:
  // The text of tokens. What ends within a character may end with the bytes that are there, or with
  // U+FFFD. May throw.
  using Decode = std::function<std::string(std::span<const Token>)>;
  // The last tokens of a prompt that are looked at.
  static constexpr size_t kPromptTokens = 6;

  // `prompt` is not part of the text, but its end may decide how the text begins: with a space or
  // not. A stop string ends the text; with `include_stop` it is part of it.
  TextStream(Decode decode, std::span<const Token> prompt, std::vector<std::string> stops,
             bool include_stop);

  // Adds a token. Does nothing once the text has stopped. A stop string that ends with it stops the
  // text, unless it `may_stop` not yet.
  void Add(Token token, bool may_stop = true);
  // Nothing follows: what was held back becomes text.
  void Finish();
  // Text that has not been taken yet.
  std::string Take();
  // Whether a stop string has come.
  bool stopped() const { return stopped_; }

 private:
  void AddText(std::string_view text, bool may_stop);
  // The length of what is held back: the longest end that begins a stop string.
  size_t HeldBack() const;

  const Decode decode_;
  const std::vector<std::string> stops_;
  const bool include_stop_;
  std::vector<Token> window_;  // the last tokens, which are decoded together
  size_t given_ = 0;           // bytes of their text that were passed on, or belong to the prompt
  std::string held_;           // text that may be part of a stop string
  std::string ready_;
  bool stopped_ = false;
};

// The length of `text` without what may become a whole character when more bytes come: the
// beginning of a character, or up to three U+FFFD.
size_t WholeCharacters(std::string_view text);

// `text` with U+FFFD in place of what is not UTF-8.
std::string ValidUtf8(std::string_view text);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_TEXT_TEXT_STREAM_H_
