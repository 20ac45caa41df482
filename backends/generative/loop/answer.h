// SPDX-License-Identifier: Apache-2.0
// Answer: where a TokenLoop puts the tokens of a request, which may have several choices: sequences
// that follow the same prompt, numbered from 0. One thread at a time.
//
// ResponseAnswer sends them as responses, and their text. A response has what is new of all
// choices, in their order. While the client reads slowly, tokens gather and go together in the next
// response.
#ifndef NEREID_BACKENDS_GENERATIVE_LOOP_ANSWER_H_
#define NEREID_BACKENDS_GENERATIVE_LOOP_ANSWER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/generative/loop/generation.h"
#include "backends/generative/scheduler/block_pool.h"
#include "backends/generative/text/logprobs.h"
#include "backends/generative/text/text_stream.h"
#include "backends/generative/text/tokenizer.h"
#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"
#include "backends/sdk/response_factory.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

inline constexpr const char* kTextOutput = "text_output";
inline constexpr const char* kOutputIds = "output_ids";
inline constexpr const char* kLogprobs = "logprobs";
inline constexpr const char* kFinishReason = "finish_reason";
inline constexpr const char* kInputCount = "num_input_tokens";
inline constexpr const char* kOutputCount = "num_output_tokens";

// Why an answer has ended.
enum class FinishReason { kStop, kLength };

class Answer {
 public:
  virtual ~Answer() = default;

  // Whether nobody waits for the answer any more.
  virtual bool IsCancelled() const = 0;
  // A token of a choice, and how probable it and others were, if the request wants that. True: with
  // it the text has come to a stop string, and the choice is complete. Throws.
  virtual bool Add(size_t choice, Token token, std::span<const TokenLogprob> logprobs) = 0;
  // A token that ends the sequence, and is not part of the text.
  virtual void AddEnd(size_t choice, Token token, std::span<const TokenLogprob> logprobs) = 0;
  // Sends what was added, if there is anything and the client wants it now.
  virtual Error Send() = 0;
  // The choice is complete. With the last one, sends the rest of all; nothing follows then, except
  // Fail after an error.
  virtual Error Finish(size_t choice, FinishReason reason) = 0;
  // Ends the answer with `error`. Nothing follows.
  virtual void Fail(const Error& error) = 0;
};

// The outputs that a request wants.
struct AnswerOutputs {
  bool text = false;
  bool tokens = false;
  bool logprobs = false;  // the request may want them
  bool reason = false;
  bool input_count = false;
  bool output_count = false;

  static AnswerOutputs Of(TRITONBACKEND_Request* request, const ModelConfig& config);
};

class ResponseAnswer : public Answer {
 public:
  // `tokenizer`: null if the model has none; outlives the answer.
  ResponseAnswer(TRITONBACKEND_ModelInstance* instance, OwnedFactory factory,
                 const AnswerOutputs& outputs, Tokenizer* tokenizer);
  // What the request asks for, or why it cannot be. Before anything else but Fail.
  Error Begin(const Generation& generation);

  bool IsCancelled() const override;
  bool Add(size_t choice, Token token, std::span<const TokenLogprob> logprobs) override;
  void AddEnd(size_t choice, Token token, std::span<const TokenLogprob> logprobs) override;
  Error Send() override;
  Error Finish(size_t choice, FinishReason reason) override;
  void Fail(const Error& error) override;

 private:
  struct Choice {
    // Tokens before the next one: the prompt's. Only what logprobs_ have to know goes on with new
    // ones; text is made by the first token, because its decoding is the loop's.
    std::vector<Token> before;
    std::optional<TextStream> text;
    int64_t added = 0;
    // ---- What is new.
    std::string unsent_text;
    std::vector<Token> unsent;
    std::string unsent_logprobs;   // objects with commas between them
    const char* reason = nullptr;  // why it has ended

    bool HasNews(bool only_text) const {
      return reason != nullptr || (only_text ? !unsent_text.empty() : !unsent.empty());
    }
  };

  std::string Decode(std::span<const Token> tokens) const { return tokenizer_->Decode(tokens); }
  void AddLogprobs(Choice* choice, Token token, std::span<const TokenLogprob> logprobs) const;
  Error SendNews(uint32_t flags);
  Error Fill(TRITONBACKEND_Response* response) const;
  Error FillTokens(TRITONBACKEND_Response* response) const;
  // An output with a text for each choice.
  template <typename F>
  Error FillTexts(TRITONBACKEND_Response* response, const char* name, F text_of) const;

  TRITONBACKEND_ModelInstance* const instance_;
  const OwnedFactory factory_;
  const AnswerOutputs outputs_;
  Tokenizer* const tokenizer_;
  bool stream_ = false;  // Send sends what there is; otherwise only Finish sends
  int64_t min_tokens_ = 0;
  uint32_t prompt_size_ = 0;
  bool logprobs_ = false;
  std::vector<std::string> stops_;
  bool include_stop_ = false;

  std::vector<Choice> choices_;
  size_t left_ = 0;  // choices that are not complete
  uint64_t since_;   // the last response, or the beginning
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_LOOP_ANSWER_H_
