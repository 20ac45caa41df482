// SPDX-License-Identifier: Apache-2.0
#include "backends/tensorflow/worker/loaded_model.h"

#include <time.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "backends/tensorflow/worker/plain_graph.h"

namespace nereid_tensorflow {
namespace {

// ConfigProto { experimental { executor_type } } in wire format; fields that stand elsewhere in the
// message stay.
constexpr char kFixedOrder[] =
    "\x82\x01\x1a"
    "\x1a\x18"
    "SINGLE_THREADED_EXECUTOR";

uint64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// Protobuf allows no larger messages.
constexpr std::streamoff kMaxGraphDef = std::streamoff{1} << 31;

Status ReadFile(const std::string& path, std::string* content) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < 0) return Status::NotFound("unable to read '" + path + "': " + std::strerror(errno));
  if (size >= kMaxGraphDef) {
    return Status::InvalidArgument("'" + path + "' has " + std::to_string(size) +
                                   " bytes, more than a GraphDef can have");
  }
  content->resize(static_cast<size_t>(size));
  file.seekg(0);
  file.read(content->data(), size);
  if (!file) return Status::NotFound("unable to read '" + path + "'");
  return {};
}

Status LoadLibraries(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const TfStatus status(TF_NewStatus());
    // The library is never unloaded, because its operations stay in use.
    TF_LoadLibrary(path.c_str(), status.get());
    if (TF_GetCode(status.get()) == TF_OK) continue;
    Status failed = ToStatus(status.get());
    failed.message = "unable to load the operations in '" + path + "': " + failed.message;
    return failed;
  }
  return {};
}

OperatorNames AllPlainOperators() {
  const TfBuffer list(TF_GetAllOpList());
  return PlainOperators({static_cast<const char*>(list->data), list->length});
}

// What the SavedModel's loader reads; a model in another form is not looked at.
bool IsPlainFolder(const std::string& path) {
  std::string content;
  return ReadFile(path + "/saved_model.pb", &content).ok() &&
         IsPlainSavedModel(content, AllPlainOperators());
}

TfSessionOptions MakeOptions(const LoadRequest& request, bool fixed_order, TF_Status* status) {
  const std::string config = request.session_config + (fixed_order ? kFixedOrder : "");
  TfSessionOptions options(TF_NewSessionOptions());
  TF_SetConfig(options.get(), config.data(), config.size(), status);
  return options;
}

}  // namespace

std::unique_ptr<LoadedModel> LoadedModel::Load(const LoadRequest& request, LoadReply* reply) {
  reply->runtime_version = TF_Version();
  std::unique_ptr<LoadedModel> model(new LoadedModel);
  model->graph_.reset(TF_NewGraph());
  reply->status = LoadLibraries(request.op_libraries);
  if (reply->status.ok()) {
    reply->status = request.format == ModelFormat::kSavedModel
                        ? model->LoadSavedModel(request, reply)
                        : model->LoadGraphDef(request, reply);
  }
  if (reply->status.ok()) reply->status = model->RunInitOps(request.init_ops);
  if (!reply->status.ok()) model.reset();
  return model;
}

Status LoadedModel::LoadSavedModel(const LoadRequest& request, LoadReply* reply) {
  const TfStatus status(TF_NewStatus());
  reply->fixed_order = request.one_thread && IsPlainFolder(request.path);
  const TfSessionOptions options = MakeOptions(request, reply->fixed_order, status.get());
  if (TF_GetCode(status.get()) != TF_OK) return ToStatus(status.get());
  const TfBuffer meta_graph(TF_NewBuffer());
  const char* const tag = request.tag.c_str();
  session_ = TF_LoadSessionFromSavedModel(options.get(), nullptr, request.path.c_str(), &tag, 1,
                                          graph_.get(), meta_graph.get(), status.get());
  if (TF_GetCode(status.get()) != TF_OK) return ToStatus(status.get());
  std::vector<SignatureDef> signatures;
  if (!ReadSignatures({static_cast<const char*>(meta_graph->data), meta_graph->length},
                      &signatures)) {
    return Status::InvalidArgument("the SavedModel's signatures are damaged");
  }
  const SignatureDef* signature = nullptr;
  Status chosen = ChooseSignature(signatures, request.signature, &signature);
  if (!chosen.ok()) return chosen;
  reply->signature = signature->name;
  for (const SignatureTensor& tensor : signature->inputs) {
    reply->inputs.push_back(tensor.description);
    Status found = FindSignatureTensor(tensor, &inputs_);
    if (!found.ok()) return found;
  }
  for (const SignatureTensor& tensor : signature->outputs) {
    reply->outputs.push_back(tensor.description);
    Status found = FindSignatureTensor(tensor, &outputs_);
    if (!found.ok()) return found;
  }
  return {};
}

Status LoadedModel::FindSignatureTensor(const SignatureTensor& tensor,
                                        std::vector<TF_Output>* found) const {
  TF_Output output{nullptr, 0};
  if (!tensor.graph_tensor.empty()) {
    std::string operation;
    if (ParseTensorName(tensor.graph_tensor, &operation, &output.index)) {
      output.oper = TF_GraphOperationByName(graph_.get(), operation.c_str());
    }
    if (output.oper == nullptr || output.index >= TF_OperationNumOutputs(output.oper)) {
      return Status::InvalidArgument("the signature's tensor '" + tensor.description.name +
                                     "' is '" + tensor.graph_tensor +
                                     "' in the graph, which has no such tensor");
    }
  }
  found->push_back(output);
  return {};
}

Status LoadedModel::LoadGraphDef(const LoadRequest& request, LoadReply* reply) {
  const TfStatus status(TF_NewStatus());
  {
    std::string content;
    Status read = ReadFile(request.path, &content);
    if (!read.ok()) return read;
    reply->fixed_order = request.one_thread && IsPlainGraph(content, AllPlainOperators());
    const TfBuffer buffer(TF_NewBufferFromString(content.data(), content.size()));
    std::string().swap(content);  // so that it is not in memory twice
    const TfImportOptions import_options(TF_NewImportGraphDefOptions());
    TF_GraphImportGraphDef(graph_.get(), buffer.get(), import_options.get(), status.get());
  }
  if (TF_GetCode(status.get()) != TF_OK) return ToStatus(status.get());
  size_t position = 0;
  if (TF_GraphNextOperation(graph_.get(), &position) == nullptr) {
    return Status::InvalidArgument("the GraphDef is empty");
  }
  const TfSessionOptions options = MakeOptions(request, reply->fixed_order, status.get());
  if (TF_GetCode(status.get()) != TF_OK) return ToStatus(status.get());
  session_ = TF_NewSession(graph_.get(), options.get(), status.get());
  if (TF_GetCode(status.get()) != TF_OK) return ToStatus(status.get());
  FindPlaceholders(reply);
  for (const std::string& name : request.graph_outputs) {
    TF_Operation* const operation = TF_GraphOperationByName(graph_.get(), name.c_str());
    if (operation == nullptr || TF_OperationNumOutputs(operation) == 0) {
      return Status::InvalidArgument("output '" + name + "' is not a node of the GraphDef" +
                                     (name.find(':') == std::string::npos
                                          ? " that gives a tensor"
                                          : "; names have no colon and index"));
    }
    outputs_.push_back({operation, 0});
    reply->outputs.push_back(Describe(name, outputs_.back()));
  }
  return {};
}

void LoadedModel::FindPlaceholders(LoadReply* reply) {
  size_t position = 0;
  while (TF_Operation* const operation = TF_GraphNextOperation(graph_.get(), &position)) {
    const std::string_view type = TF_OperationOpType(operation);
    const bool with_default = type == "PlaceholderWithDefault";
    if (type != "Placeholder" && type != "PlaceholderV2" && !with_default) continue;
    inputs_.push_back({operation, 0});
    reply->inputs.push_back(Describe(TF_OperationName(operation), inputs_.back()));
    reply->inputs.back().has_default = with_default;
  }
}

TensorDescription LoadedModel::Describe(const std::string& name, TF_Output output) const {
  TensorDescription tensor;
  tensor.name = name;
  tensor.type = TF_OperationOutputType(output);
  const TfStatus status(TF_NewStatus());
  const int rank = TF_GraphGetTensorNumDims(graph_.get(), output, status.get());
  tensor.rank_known = TF_GetCode(status.get()) == TF_OK && rank >= 0;
  if (!tensor.rank_known) return tensor;
  tensor.dims.resize(static_cast<size_t>(rank));
  TF_GraphGetTensorShape(graph_.get(), output, tensor.dims.data(), rank, status.get());
  return tensor;
}

Status LoadedModel::RunInitOps(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    TF_Operation* const operation = TF_GraphOperationByName(graph_.get(), name.c_str());
    if (operation == nullptr) {
      return Status::InvalidArgument("the init op '" + name + "' is not in the graph");
    }
    const TfStatus status(TF_NewStatus());
    TF_SessionRun(session_, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, &operation, 1,
                  nullptr, status.get());
    if (TF_GetCode(status.get()) == TF_OK) continue;
    Status failed = ToStatus(status.get());
    failed.message = "the init op '" + name + "' failed: " + failed.message;
    return failed;
  }
  return {};
}

Status LoadedModel::Run(const std::vector<uint32_t>& input_indices,
                        const std::vector<TfTensor>& inputs,
                        const std::vector<uint32_t>& output_indices, std::vector<TfTensor>* outputs,
                        ComputeTimes* times) const {
  std::vector<TF_Output> feeds;
  std::vector<TF_Tensor*> fed;
  for (size_t k = 0; k < input_indices.size(); ++k) {
    feeds.push_back(inputs_[input_indices[k]]);
    fed.push_back(inputs[k].get());
  }
  std::vector<TF_Output> fetches;
  for (const uint32_t index : output_indices) fetches.push_back(outputs_[index]);
  std::vector<TF_Tensor*> fetched(fetches.size(), nullptr);
  const TfStatus status(TF_NewStatus());
  times->start_ns = NowNs();
  TF_SessionRun(session_, nullptr, feeds.data(), fed.data(), static_cast<int>(feeds.size()),
                fetches.data(), fetched.data(), static_cast<int>(fetches.size()), nullptr, 0,
                nullptr, status.get());
  times->end_ns = NowNs();
  outputs->clear();
  for (TF_Tensor* const tensor : fetched) outputs->emplace_back(tensor);
  return ToStatus(status.get());
}

}  // namespace nereid_tensorflow
