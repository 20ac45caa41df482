// SPDX-License-Identifier: Apache-2.0
// Reads arbitrary bytes as requests of OpenAI's API, for a model that takes everything. Each
// tensor that comes of it must be as long as its shape says, and sampling_parameters must be JSON.
#include <cstdlib>
#include <memory>

#include "frontends/openai/openai_testing.h"

namespace {

using nereid::DataType;

void Check(const nereid::InferRequest& request) {
  for (const nereid::InferInput& input : request.inputs()) {
    const std::string bytes = nereid::openai_testing::BytesOf(input);
    if (input.data_type() == DataType::kBytes) {
      const auto texts = nereid::openai_testing::TextsOf(input);
      if (static_cast<int64_t>(texts.size()) != nereid::ElementCount(input.sent_shape())) {
        std::abort();
      }
      if (input.name() != "sampling_parameters") continue;
      nereid::JsonTree tree;
      const auto budget = nereid::ParseBudget::UpTo(texts[0].size());
      if (!nereid::ParseJson(texts[0], 200, budget, &tree).ok() || !tree.IsObject()) std::abort();
    } else if (nereid::TensorByteSize(input.data_type(), input.sent_shape()) !=
               static_cast<int64_t>(bytes.size())) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto texts = nereid::openai_testing::MakeTextModel(
      {{"openai.chat_template", "chatml"}, {"openai.takes", "n,logit_bias,top_k"}});
  static const auto embeddings = nereid::openai_testing::MakeEmbeddingModel();
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto route : {nereid::OpenAiRoute::kCompletions, nereid::OpenAiRoute::kChat,
                           nereid::OpenAiRoute::kEmbeddings}) {
    const auto& model = route == nereid::OpenAiRoute::kEmbeddings ? embeddings : texts;
    nereid::openai_testing::ReadResult result(route, model, text);
    if (result.status.ok()) Check(result.request);
  }
  return 0;
}
