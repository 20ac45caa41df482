// SPDX-License-Identifier: Apache-2.0
// A tokenizer in OpenVINO: one network makes tokens from a text, another one a text from tokens.
//
// TextModel has both, compiled, for all instances: immutable, thread-safe. A TextNetwork has the
// infer requests of one instance.
#ifndef NEREID_BACKENDS_GENERATIVE_NETWORK_TEXT_NETWORK_H_
#define NEREID_BACKENDS_GENERATIVE_NETWORK_TEXT_NETWORK_H_

#include <filesystem>
#include <memory>
#include <openvino/openvino.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/generative/text/tokenizer.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

class TextModel {
 public:
  // Reads openvino_tokenizer.xml and openvino_detokenizer.xml in `folder`, whose operations are in
  // libopenvino_tokenizers.so in `libraries`. Null if there is neither file; INVALID_ARG if there
  // is one of them, or if they are no tokenizer.
  static Result<std::unique_ptr<TextModel>> Load(const std::filesystem::path& folder,
                                                 const std::filesystem::path& libraries);
  ~TextModel();

  // What the file has noted of the tokenizer from which it was made; "" and none: nothing.
  const std::string& chat_template() const { return chat_template_; }
  std::optional<Token> end_token() const { return end_token_; }

 private:
  friend class TextNetwork;

  TextModel() = default;
  Error Compile(const std::string& tokenizer, const std::string& detokenizer, ov::Core* core);

  mutable ov::CompiledModel tokenizer_;
  mutable ov::CompiledModel detokenizer_;
  std::string chat_template_;
  std::optional<Token> end_token_;
};

class TextNetwork : public Tokenizer {
 public:
  // Tries both networks.
  static Result<std::unique_ptr<TextNetwork>> Create(const TextModel& model);
  ~TextNetwork() override;

  Result<std::vector<Token>> Encode(std::string_view text) override;
  std::string Decode(std::span<const Token> tokens) override;

 private:
  explicit TextNetwork(const TextModel& model);

  ov::InferRequest encode_;
  ov::InferRequest decode_;
  const bool wide_;  // the detokenizer takes tokens of 64 bits
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_NETWORK_TEXT_NETWORK_H_
