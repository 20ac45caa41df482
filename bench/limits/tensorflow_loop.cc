// TensorFlow called in-process in a loop, with one thread: what a model costs without a server.
//
//   tensorflow_loop MODEL.savedmodel INPUT OUTPUT SHAPE SECONDS [PAUSE_US]
//
// INPUT and OUTPUT are names of the model's signature, which is the default one or the only one.
// SHAPE is that of the FP32 input with the batch in front, for instance 16,64. With PAUSE_US the
// thread sleeps so long after each run, as that of a server does which waits for the next request:
// only the runs are timed. Prints {"shape":"S","runs":N,"us_per_run":X} and a newline.
#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <sys/prctl.h>
#include <tensorflow/c/c_api.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "backends/tensorflow/worker/meta_graph.h"

namespace {

using Clock = std::chrono::steady_clock;

// intra_op_parallelism_threads 1; inter_op_parallelism_threads -1: operators run in this thread.
constexpr unsigned char kOneThread[] = {0x10, 0x01, 0x28, 0xff, 0xff, 0xff, 0xff,
                                        0xff, 0xff, 0xff, 0xff, 0xff, 0x01};

[[noreturn]] void Fail(const std::string& text) {
  std::fprintf(stderr, "tensorflow_loop: %s\n", text.c_str());
  std::exit(1);
}

void Check(const TF_Status* status) {
  if (TF_GetCode(status) != TF_OK) Fail(TF_Message(status));
}

// Empty for what is no shape.
std::vector<int64_t> ParseShape(const char* text) {
  std::vector<int64_t> shape;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    int64_t dim = 0;
    if (!absl::SimpleAtoi(part, &dim) || dim < 1) return {};
    shape.push_back(dim);
  }
  return shape;
}

// The input that the load generator sends, too: small whole numbers.
TF_Tensor* Values(const std::vector<int64_t>& shape) {
  size_t count = 1;
  for (const int64_t dim : shape) count *= static_cast<size_t>(dim);
  TF_Tensor* const tensor = TF_AllocateTensor(
      TF_FLOAT, shape.data(), static_cast<int>(shape.size()), count * sizeof(float));
  auto* const values = static_cast<float*>(TF_TensorData(tensor));
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 17);
  return tensor;
}

TF_Output Find(TF_Graph* graph, const std::vector<nereid_tensorflow::SignatureTensor>& tensors,
               const char* name) {
  for (const nereid_tensorflow::SignatureTensor& tensor : tensors) {
    if (tensor.description.name != name) continue;
    TF_Output found{nullptr, 0};
    std::string operation;
    nereid_tensorflow::ParseTensorName(tensor.graph_tensor, &operation, &found.index);
    found.oper = TF_GraphOperationByName(graph, operation.c_str());
    return found;
  }
  Fail(std::string("the model has no tensor ") + name);
}

struct Model {
  TF_Session* session = nullptr;
  TF_Output input{};
  TF_Output output{};
};

Model Load(char** words, TF_Status* status) {
  Model model;
  TF_SessionOptions* const options = TF_NewSessionOptions();
  TF_SetConfig(options, kOneThread, sizeof(kOneThread), status);
  Check(status);
  TF_Graph* const graph = TF_NewGraph();
  TF_Buffer* const meta_graph = TF_NewBuffer();
  const char* const tag = "serve";
  model.session =
      TF_LoadSessionFromSavedModel(options, nullptr, words[1], &tag, 1, graph, meta_graph, status);
  Check(status);
  std::vector<nereid_tensorflow::SignatureDef> signatures;
  nereid_tensorflow::ReadSignatures(
      {static_cast<const char*>(meta_graph->data), meta_graph->length}, &signatures);
  const nereid_tensorflow::SignatureDef* signature = nullptr;
  const nereid_tensorflow::Status chosen =
      nereid_tensorflow::ChooseSignature(signatures, "", &signature);
  if (!chosen.ok()) Fail(chosen.message);
  model.input = Find(graph, signature->inputs, words[2]);
  model.output = Find(graph, signature->outputs, words[3]);
  return model;
}

void Loop(char** words, double seconds, std::chrono::microseconds pause) {
  TF_Status* const status = TF_NewStatus();
  const Model model = Load(words, status);
  TF_Tensor* const input = Values(ParseShape(words[4]));
  prctl(PR_SET_TIMERSLACK, 1);  // nanoseconds; otherwise a pause is 50 us longer
  struct Found {
    int64_t runs = 0;
    std::chrono::duration<double> in_runs{0};
  };
  const auto run_for = [&](double length) {
    Found found;
    const Clock::time_point start = Clock::now();
    Clock::time_point before = start;
    while (before < start + std::chrono::duration<double>(length)) {
      TF_Tensor* output = nullptr;
      TF_SessionRun(model.session, nullptr, &model.input, &input, 1, &model.output, &output, 1,
                    nullptr, 0, nullptr, status);
      Check(status);
      const Clock::time_point after = Clock::now();
      TF_DeleteTensor(output);
      ++found.runs;
      found.in_runs += after - before;
      if (pause.count() > 0) std::this_thread::sleep_for(pause);
      before = pause.count() > 0 ? Clock::now() : after;
    }
    return found;
  };
  run_for(seconds / 5);
  const Found found = run_for(seconds);
  std::printf("{\"shape\":\"%s\",\"runs\":%lld,\"us_per_run\":%.3f}\n", words[4],
              static_cast<long long>(found.runs),
              found.in_runs.count() * 1e6 / static_cast<double>(found.runs));
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 0;
  int pause_us = 0;
  if (argc < 6 || argc > 7 || ParseShape(argv[4]).empty() || !absl::SimpleAtod(argv[5], &seconds) ||
      (argc == 7 && !absl::SimpleAtoi(argv[6], &pause_us))) {
    std::fprintf(stderr, "usage: %s MODEL.savedmodel INPUT OUTPUT SHAPE SECONDS [PAUSE_US]\n",
                 argv[0]);
    return 2;
  }
  Loop(argv, seconds, std::chrono::microseconds(pause_us));
}
