// SPDX-License-Identifier: Apache-2.0
// libtriton_softmax.so: the functions that the server calls. One computation serves all requests of
// a batch. SoftmaxModel is immutable once made; an instance belongs to the thread that executes it.
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "backends/sdk/batch.h"
#include "backends/sdk/entry.h"
#include "backends/sdk/model_config.h"
#include "backends/sdk/options.h"
#include "backends/sdk/tensor.h"
#include "softmax.h"

namespace {

using nereid_backend::Batch;
using nereid_backend::Error;
using nereid_backend::Guard;
using nereid_backend::InputView;
using nereid_backend::ModelConfig;
using nereid_backend::Piece;
using nereid_backend::Result;
using nereid_backend::StrCat;

constexpr char kInput[] = "SCORES";
constexpr char kOutput[] = "PROBABILITIES";
constexpr uint32_t kBackendApiMinor = 10;  // the oldest server that has all functions used here

// What can be given to a model, and to the backend: nothing more than what every server gives. The
// SDK warns of all other names.
constexpr nereid_backend::OptionSpec kParameters[] = {nereid_backend::TextOption("temperature")};
constexpr nereid_backend::BackendOptions kOptions = {"softmax", kParameters, {}};

// What all instances of a model share: what its configuration says.
class SoftmaxModel {
 public:
  static Result<std::unique_ptr<SoftmaxModel>> Create(TRITONBACKEND_Model* handle) {
    NB_ASSIGN_OR_RETURN(const ModelConfig config, nereid_backend::ReadModelConfig(handle));
    NB_RETURN_IF_ERROR(CheckTensors(config));
    std::unique_ptr<SoftmaxModel> model(new SoftmaxModel);
    NB_ASSIGN_OR_RETURN(const nereid_backend::OptionValues given,
                        nereid_backend::ReadParameters(kOptions, config));
    const std::string text = given.Text("temperature").value_or("1");
    const auto read = std::from_chars(text.data(), text.data() + text.size(), model->temperature_);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() ||
        !(model->temperature_ > 0)) {
      return Error::InvalidArg(StrCat("parameter 'temperature' of model '", config.name, "' is '",
                                      text, "'; it has to be a number above 0"));
    }
    return model;
  }

  float temperature() const { return temperature_; }

 private:
  // One row per request and batch item.
  static Error CheckTensors(const ModelConfig& config) {
    const auto* const input = config.FindInput(kInput);
    const auto* const output = config.FindOutput(kOutput);
    if (config.batching() && input != nullptr && output != nullptr &&
        input->type == TRITONSERVER_TYPE_FP32 && output->type == TRITONSERVER_TYPE_FP32 &&
        input->dims.size() == 1 && output->dims == input->dims) {
      return Error();
    }
    return Error::InvalidArg(
        StrCat("model '", config.name, "' needs max_batch_size > 0, an input '", kInput,
               "' and an output '", kOutput, "', both TYPE_FP32 with the same single dimension"));
  }

  float temperature_ = 1;
};

class SoftmaxInstance {
 public:
  static Result<std::unique_ptr<SoftmaxInstance>> Create(TRITONBACKEND_ModelInstance*,
                                                         const SoftmaxModel& model) {
    return std::unique_ptr<SoftmaxInstance>(new SoftmaxInstance(model));
  }

  // The server joins only requests whose rows are equally long.
  Error Execute(Batch* batch) {
    pieces_.clear();
    std::vector<InputView> inputs(batch->size());
    int64_t rows = 0, columns = 0;
    for (size_t i = 0; i < batch->size(); ++i) {
      NB_ASSIGN_OR_RETURN(inputs[i], InputView::Find(batch->request(i), kInput));
      NB_RETURN_IF_ERROR(nereid_backend::AppendPieces(inputs[i], &pieces_));
      batch->set_rows(i, inputs[i].dims[0]);
      rows += inputs[i].dims[0];
      columns = inputs[i].dims[1];
    }
    const char* const scores = nereid_backend::Gather(pieces_, alignof(float), &scratch_);
    results_.resize(static_cast<size_t>(rows * columns));
    batch->MarkComputeStart();
    Softmax(reinterpret_cast<const float*>(scores), static_cast<size_t>(rows),
            static_cast<size_t>(columns), model_.temperature(), results_.data());
    batch->MarkComputeEnd();
    return Answer(inputs, batch);
  }

 private:
  explicit SoftmaxInstance(const SoftmaxModel& model) : model_(model) {}

  // Gives each request its rows of the results.
  Error Answer(const std::vector<InputView>& inputs, Batch* batch) {
    const char* from = reinterpret_cast<const char*>(results_.data());
    for (size_t i = 0; i < batch->size(); ++i) {
      const size_t size = inputs[i].byte_size;
      if (nereid_backend::WantsOutput(batch->request(i), kOutput)) {
        NB_ASSIGN_OR_RETURN(TRITONBACKEND_Response * response, batch->Response(i));
        NB_ASSIGN_OR_RETURN(
            char* to, nereid_backend::AllocateOutput(response, kOutput, TRITONSERVER_TYPE_FP32,
                                                     inputs[i].dims, inputs[i].dim_count, size));
        nereid_backend::CopyPieces({{from, size}}, to);
      }
      from += size;
    }
    return Error();
  }

  const SoftmaxModel& model_;
  // Kept from batch to batch.
  std::vector<Piece> pieces_;
  nereid_backend::Scratch scratch_;
  std::vector<float> results_;
};

}  // namespace

// Guard keeps exceptions inside. RunBatch answers and releases all requests and reports statistics,
// whatever Execute does.
extern "C" {

TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {
  return Guard("Initialize", [&]() -> Error {
    NB_RETURN_IF_ERROR(nereid_backend::RequireApi(kBackendApiMinor));
    NB_ASSIGN_OR_RETURN(const nereid_backend::Json settings,
                        nereid_backend::ReadBackendSettings(backend));
    return nereid_backend::ReadSettings(kOptions, settings).TakeError();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return Guard("ModelInitialize",
               [&] { return nereid_backend::InitializeModel<SoftmaxModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return Guard("ModelFinalize", [&] { return nereid_backend::FinalizeModel<SoftmaxModel>(model); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceInitialize", [&] {
    return nereid_backend::InitializeInstance<SoftmaxInstance, SoftmaxModel>(instance);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  return Guard("ModelInstanceFinalize",
               [&] { return nereid_backend::FinalizeInstance<SoftmaxInstance>(instance); });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                                       TRITONBACKEND_Request** requests,
                                                       const uint32_t request_count) {
  return nereid_backend::RunBatch(instance, requests, request_count, [&](Batch& batch) {
    return nereid_backend::InstanceStateOf<SoftmaxInstance>(instance)->Execute(&batch);
  });
}

// Says that this backend has no code for GPUs: its instances stay on the CPU where there are some.
void NEREID_BackendComputesOnCpus(void) {}

}  // extern "C"
