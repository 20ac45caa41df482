// SPDX-License-Identifier: Apache-2.0
// For the tests and fuzzers of this folder: models that only describe themselves, and requests that
// are read for them.
#ifndef NEREID_FRONTENDS_OPENAI_OPENAI_TESTING_H_
#define NEREID_FRONTENDS_OPENAI_OPENAI_TESTING_H_

#include <absl/strings/string_view.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontends/codec/binary_tensor.h"
#include "frontends/codec/codec_testing.h"
#include "frontends/openai/openai_request.h"
#include "model/shape.h"

namespace nereid::openai_testing {

using Parameters = std::map<std::string, std::string>;

inline InputSpec Input(const std::string& name, DataType type, bool optional = true,
                       Shape dims = {1}) {
  InputSpec spec;
  spec.name = name;
  spec.data_type = type;
  spec.dims = std::move(dims);
  spec.optional = optional;
  return spec;
}

inline OutputSpec Output(const std::string& name, DataType type, Shape dims = {kVariableDim}) {
  OutputSpec spec;
  spec.name = name;
  spec.data_type = type;
  spec.dims = std::move(dims);
  return spec;
}

// A model with the tensors of vLLM's backend.
inline CompiledModel TextConfig(Parameters parameters = {}) {
  CompiledModel config;
  config.name = "m";
  config.version = 1;
  config.decoupled = true;
  config.inputs = {Input("text_input", DataType::kBytes, /*optional=*/false),
                   Input("stream", DataType::kBool),
                   Input("sampling_parameters", DataType::kBytes),
                   Input("exclude_input_in_output", DataType::kBool),
                   Input("return_finish_reason", DataType::kBool),
                   Input("return_num_input_tokens", DataType::kBool),
                   Input("return_num_output_tokens", DataType::kBool)};
  config.outputs = {Output("text_output", DataType::kBytes),
                    Output("finish_reason", DataType::kBytes),
                    Output("num_input_tokens", DataType::kUint32),
                    Output("num_output_tokens", DataType::kUint32)};
  config.parameters = std::move(parameters);
  return config;
}

// A model that has an embedding for each text.
inline CompiledModel EmbeddingConfig() {
  CompiledModel config;
  config.name = "e";
  config.version = 1;
  config.max_batch_size = 4;
  config.inputs = {Input("text_input", DataType::kBytes, /*optional=*/false)};
  config.outputs = {Output("vector", DataType::kFp32, {2}),
                    Output("num_input_tokens", DataType::kUint32, {1})};
  config.parameters = {{kOpenAiEmbeddings, "vector"}};
  return config;
}

inline std::shared_ptr<ServingModel> Serve(CompiledModel config) {
  return std::make_shared<codec_testing::TestModel>(std::move(config), OutputLabels());
}
inline std::shared_ptr<ServingModel> MakeTextModel(Parameters parameters = {}) {
  return Serve(TextConfig(std::move(parameters)));
}
// Serves chats, too.
inline std::shared_ptr<ServingModel> MakeModelWithLogprobs() {
  CompiledModel config = TextConfig({{kOpenAiChatTemplate, "plain"}});
  config.outputs.push_back(Output("logprobs", DataType::kBytes));
  return Serve(std::move(config));
}
inline std::shared_ptr<ServingModel> MakeEmbeddingModel() { return Serve(EmbeddingConfig()); }

// What becomes of `body` for `model`.
struct ReadResult {
  ReadResult(OpenAiRoute route, const std::shared_ptr<ServingModel>& model, absl::string_view body)
      : request(model, -1) {
    JsonTree tree;
    status = ParseJson(body, 100, ParseBudget::UpTo(body.size()), &tree);
    if (status.ok()) status = OpenAiModelName(tree).status();
    const auto shape = OpenAiModel::Of(model->config());
    if (status.ok()) status = shape.status();
    if (status.ok()) {
      status = ReadOpenAiRequest(route, tree, *shape, &request, &buffers, &settings);
    }
  }

  RequestBuffers buffers;
  InferRequest request;
  OpenAiSettings settings;
  absl::Status status;
};

inline std::string BytesOf(const InferInput& input) {
  std::string bytes;
  for (const InputBuffer& piece : input.buffers()) {
    bytes.append(static_cast<const char*>(piece.base), piece.byte_size);
  }
  return bytes;
}

// The elements of a BYTES input.
inline std::vector<std::string> TextsOf(const InferInput& input) {
  const std::string bytes = BytesOf(input);
  std::vector<std::string> texts;
  BytesElements elements(bytes);
  absl::string_view text;
  while (elements.Next(&text)) texts.emplace_back(text);
  return texts;
}

}  // namespace nereid::openai_testing

#endif  // NEREID_FRONTENDS_OPENAI_OPENAI_TESTING_H_
