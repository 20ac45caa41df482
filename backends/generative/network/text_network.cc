// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/network/text_network.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <stdexcept>

#include "backends/generative/network/setup_mutex.h"
#include "backends/sdk/boundary.h"
#include "backends/sdk/openvino/ov_error.h"

namespace nereid_backend {
namespace {

constexpr const char* kTokenizer = "openvino_tokenizer.xml";
constexpr const char* kDetokenizer = "openvino_detokenizer.xml";
constexpr const char* kTokens = "input_ids";

bool IsTokens(const ov::element::Type& type) {
  return type == ov::element::i64 || type == ov::element::i32;
}

bool HasTokens(const ov::Model& graph) {
  const auto outputs = graph.outputs();
  return std::any_of(outputs.begin(), outputs.end(), [](const auto& output) {
    return output.get_names().contains(kTokens) && IsTokens(output.get_element_type());
  });
}

bool TakesText(const ov::Model& graph) {
  return graph.inputs().size() == 1 && graph.input(0).get_element_type() == ov::element::string;
}

Error CheckTokenizer(const std::string& path, const ov::Model& graph) {
  if (TakesText(graph) && HasTokens(graph)) return Error();
  return Error::InvalidArg(StrCat("'", path,
                                  "' is no tokenizer: expected an input of strings and "
                                  "an output '",
                                  kTokens, "' of integers"));
}

Error CheckDetokenizer(const std::string& path, const ov::Model& graph) {
  if (graph.inputs().size() == 1 && IsTokens(graph.input(0).get_element_type()) &&
      graph.outputs().size() == 1 && graph.output(0).get_element_type() == ov::element::string) {
    return Error();
  }
  return Error::InvalidArg(StrCat("'", path,
                                  "' is no detokenizer: expected an input of integers "
                                  "and an output of strings"));
}

// What the converter noted under `name`; "" if it did not.
std::string NoteOf(const ov::Model& graph, const std::string& name) {
  const auto& notes = graph.get_rt_info();
  const auto found = notes.find(name);
  return found == notes.end() ? "" : found->second.as<std::string>();
}

// The library stays for good, since nothing tells when the last of its operations is gone.
Error AddOperations(const std::filesystem::path& libraries, ov::Core* core) {
  const std::string path = (libraries / "libopenvino_tokenizers.so").string();
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) == nullptr) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                 StrCat("the model has a tokenizer, whose library cannot be loaded: ", dlerror()));
  }
  core->add_extension(path);
  return Error();
}

template <typename T>
std::vector<Token> TokensOf(const ov::Tensor& tensor) {
  const T* const values = tensor.data<const T>();
  return {values, values + tensor.get_size()};
}

template <typename T>
void Fill(std::span<const Token> tokens, ov::Tensor* tensor) {
  std::transform(tokens.begin(), tokens.end(), tensor->data<T>(),
                 [](Token token) { return static_cast<T>(token); });
}

}  // namespace

Result<std::unique_ptr<TextModel>> TextModel::Load(const std::filesystem::path& folder,
                                                   const std::filesystem::path& libraries) {
  const std::filesystem::path tokenizer = folder / kTokenizer;
  const std::filesystem::path detokenizer = folder / kDetokenizer;
  const bool encodes = std::filesystem::exists(tokenizer);
  const bool decodes = std::filesystem::exists(detokenizer);
  if (!encodes && !decodes) return std::unique_ptr<TextModel>();
  if (!encodes || !decodes) {
    return Error::InvalidArg(StrCat("'", folder.string(), "' has '",
                                    encodes ? kTokenizer : kDetokenizer, "' but not '",
                                    encodes ? kDetokenizer : kTokenizer,
                                    "': expected both, or neither for a model without text"));
  }
  std::unique_ptr<TextModel> model(new TextModel());
  NB_RETURN_IF_ERROR(
      OvTry(StrCat("failed to load the tokenizer in '", folder.string(), "': "), [&]() -> Error {
        const std::lock_guard lock(SetupMutex());
        ov::Core core;
        // A mapped file that is truncated while being replaced would crash the process.
        core.set_property(ov::enable_mmap(false));
        NB_RETURN_IF_ERROR(AddOperations(libraries, &core));
        return model->Compile(tokenizer.string(), detokenizer.string(), &core);
      }));
  return model;
}

TextModel::~TextModel() {
  const std::lock_guard lock(SetupMutex());
  tokenizer_ = ov::CompiledModel();
  detokenizer_ = ov::CompiledModel();
}

Error TextModel::Compile(const std::string& tokenizer, const std::string& detokenizer,
                         ov::Core* core) {
  const std::shared_ptr<ov::Model> encode = core->read_model(tokenizer);
  const std::shared_ptr<ov::Model> decode = core->read_model(detokenizer);
  NB_RETURN_IF_ERROR(CheckTokenizer(tokenizer, *encode));
  NB_RETURN_IF_ERROR(CheckDetokenizer(detokenizer, *decode));
  chat_template_ = NoteOf(*encode, "chat_template");
  const std::string end = NoteOf(*encode, "eos_token_id");
  Token token = 0;
  if (std::from_chars(end.data(), end.data() + end.size(), token).ec == std::errc()) {
    end_token_ = token;
  }
  const ov::AnyMap properties = {ov::inference_num_threads(1),
                                 ov::hint::inference_precision(ov::element::f32),
                                 ov::hint::enable_cpu_pinning(false)};
  tokenizer_ = core->compile_model(encode, "CPU", properties);
  detokenizer_ = core->compile_model(decode, "CPU", properties);
  return Error();
}

TextNetwork::TextNetwork(const TextModel& model)
    : encode_(model.tokenizer_.create_infer_request()),
      decode_(model.detokenizer_.create_infer_request()),
      wide_(model.detokenizer_.input(0).get_element_type() == ov::element::i64) {}

TextNetwork::~TextNetwork() {
  const std::lock_guard lock(SetupMutex());
  encode_ = ov::InferRequest();
  decode_ = ov::InferRequest();
}

Result<std::unique_ptr<TextNetwork>> TextNetwork::Create(const TextModel& model) {
  std::unique_ptr<TextNetwork> network;
  NB_RETURN_IF_ERROR(OvTry("failed to set up an instance: ", [&]() -> Error {
    const std::lock_guard lock(SetupMutex());
    network.reset(new TextNetwork(model));
    return Error();
  }));
  NB_ASSIGN_OR_RETURN(const std::vector<Token> tokens, network->Encode("text"));
  NB_RETURN_IF_ERROR(Guarded("detokenizer", [&]() -> Error {
    network->Decode(tokens);
    return Error();
  }));
  return network;
}

Result<std::vector<Token>> TextNetwork::Encode(std::string_view text) {
  std::vector<Token> tokens;
  NB_RETURN_IF_ERROR(OvTry("the tokenizer failed: ", [&]() -> Error {
    ov::Tensor input(ov::element::string, {1});
    *input.data<std::string>() = text;
    encode_.set_input_tensor(input);
    encode_.infer();
    const ov::Tensor output = encode_.get_tensor(kTokens);
    tokens = output.get_element_type() == ov::element::i64 ? TokensOf<int64_t>(output)
                                                           : TokensOf<int32_t>(output);
    return Error();
  }));
  return tokens;
}

std::string TextNetwork::Decode(std::span<const Token> tokens) {
  if (tokens.empty()) return "";
  std::string text;
  const Error error = OvTry("the detokenizer failed: ", [&]() -> Error {
    ov::Tensor input(wide_ ? ov::element::i64 : ov::element::i32, {1, tokens.size()});
    if (wide_) {
      Fill<int64_t>(tokens, &input);
    } else {
      Fill<int32_t>(tokens, &input);
    }
    decode_.set_input_tensor(input);
    decode_.infer();
    text = *decode_.get_output_tensor(0).data<const std::string>();
    return Error();
  });
  if (!error.ok()) throw std::runtime_error(error.message());
  return text;
}

}  // namespace nereid_backend
