// SPDX-License-Identifier: Apache-2.0
// GenerativeModel: one loaded version of a model: its configuration, network and tokenizer. A
// GenerativeInstance answers requests for it. Immutable after Create; thread-safe.
#ifndef NEREID_BACKENDS_GENERATIVE_MODEL_H_
#define NEREID_BACKENDS_GENERATIVE_MODEL_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/generative/loop/generation.h"
#include "backends/generative/loop/token_loop.h"
#include "backends/generative/network/paged_network.h"
#include "backends/generative/network/text_network.h"
#include "backends/generative/scheduler/token_scheduler.h"
#include "backends/sdk/error.h"
#include "backends/sdk/model_config.h"
#include "backends/sdk/option_table.h"
#include "triton/core/tritonbackend.h"

namespace nereid_backend {

struct GenerativeBackend {
  static Result<std::unique_ptr<GenerativeBackend>> Create(TRITONBACKEND_Backend* backend);
};

class GenerativeModel {
 public:
  // Reads the files, completes the configuration if the server asks for it, and checks it.
  static Result<std::unique_ptr<GenerativeModel>> Create(TRITONBACKEND_Model* handle);

  const ModelConfig& config() const { return config_; }
  const PagedModel& network() const { return *network_; }
  // Null: the model has none, and gets and gives tokens.
  const TextModel* tokenizer() const { return tokenizer_.get(); }
  const TokenScheduler::Limits& scheduling() const { return scheduling_; }
  const GenerationLimits& limits() const { return limits_; }
  const std::vector<Token>& end_tokens() const { return end_tokens_; }

 private:
  explicit GenerativeModel(ModelConfig config) : config_(std::move(config)) {}

  Error Load(TRITONBACKEND_Model* handle);
  Error Complete(TRITONBACKEND_Model* handle);
  // Those of the configuration, and what the OpenAI routes want to know of a model with text.
  Json TextParameters() const;
  Error CheckConfig();
  // Notes, too, what they allow.
  Error CheckTensors();
  // Tokenizer, end tokens, context and chat template, from the files that lie beside the network.
  Error LoadTokenizer(TRITONBACKEND_Model* handle, const std::filesystem::path& folder);
  Error ReadNotes(const std::filesystem::path& folder);
  Error SetScheduling(const OptionValues& given);

  ModelConfig config_;
  std::unique_ptr<PagedModel> network_;
  std::unique_ptr<TextModel> tokenizer_;
  TokenScheduler::Limits scheduling_;
  GenerationLimits limits_;
  std::vector<Token> end_tokens_;
  std::string_view chat_format_;  // as ChatFormatOf returns it
};

// Owned by the instance's thread.
class GenerativeInstance {
 public:
  static Result<std::unique_ptr<GenerativeInstance>> Create(TRITONBACKEND_ModelInstance* handle,
                                                            const GenerativeModel& model);

  // Hands the requests to the loop, which answers them, and releases them.
  void Execute(TRITONBACKEND_Request** requests, uint32_t count);

 private:
  GenerativeInstance(TRITONBACKEND_ModelInstance* handle, const GenerativeModel& model,
                     std::unique_ptr<StepNetwork> network, std::unique_ptr<Tokenizer> tokenizer,
                     std::unique_ptr<LoopMeter> meter);
  Error Begin(TRITONBACKEND_Request* request);

  TRITONBACKEND_ModelInstance* const handle_;
  const GenerativeModel& model_;
  const std::unique_ptr<Tokenizer> tokenizer_;  // null: the model has none
  TokenLoop loop_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_MODEL_H_
