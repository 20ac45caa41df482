// SPDX-License-Identifier: Apache-2.0
// A storm on one server with two simulated GPUs: several threads send requests whose tensors are on
// the host or on GPU 0, to models on each GPU, on both, and on the CPU, with states and in an
// ensemble. The GPUs' pools are too small for all of them, the first allocations of memory fail,
// waits take time, and in the middle GPU 1 fails for good. Whatever happens, an answer is right or
// an error that says what was wanting; what does not need GPU 1 is served to the end; and at the
// end nothing is left on the GPUs.
//
//   capi_gpu_storm_test [--seconds=S] [--seed=N]
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/conformance/capi/gpu_driver.h"
#include "tests/conformance/capi/harness.h"

namespace nereid_test {
namespace {

double storm_seconds = 3;
uint64_t storm_seed = 1;

constexpr int kSenders = 8;
// Of GPU 1, after which it fails: about as many as it does in half of the storm.
constexpr double kCopiesPerSecond = 300;

std::string ModelOn(const std::string& behaviour, const std::string& more) {
  return R"(backend: "testing"
max_batch_size: 4
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
parameters { key: "behaviour" value { string_value: ")" +
         behaviour + "\" } }\n" + more;
}

std::string OnGpus(const std::string& gpus) {
  return "instance_group { kind: KIND_GPU gpus: [ " + gpus + " ] }\n";
}

// From the CPU to GPU 0 and back.
constexpr char kChain[] = R"(platform: "ensemble"
max_batch_size: 4
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
ensemble_scheduling {
  step { model_name: "zero" model_version: -1
    input_map { key: "INPUT0" value: "INPUT0" } output_map { key: "OUTPUT0" value: "first" } }
  step { model_name: "batches" model_version: -1
    input_map { key: "INPUT0" value: "first" } output_map { key: "OUTPUT0" value: "second" } }
  step { model_name: "cpu" model_version: -1
    input_map { key: "INPUT0" value: "second" } output_map { key: "OUTPUT0" value: "OUTPUT0" } }
}
)";

// A state of eight elements: the answer is the input of the request before.
std::string Stateful(const std::string& more) {
  return R"(backend: "testing"
max_batch_size: 4
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ 8 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 8 ] }
parameters { key: "behaviour" value { string_value: "gpu_batches" } }
sequence_batching {
  oldest { max_candidate_sequences: 16 }
  state { input_name: "IN" output_name: "OUT" data_type: TYPE_FP32 dims: [ 8 ]
)" + more +
         " } }\n" + OnGpus("0");
}

enum class Needs { kNoGpu, kGpu0, kGpu1, kAny };
struct GpuStormModel {
  std::string config;
  Needs needs = Needs::kNoGpu;
  bool stateful = false;
};

const std::map<std::string, GpuStormModel>& Models() {
  static const std::map<std::string, GpuStormModel> models = {
      {"cpu", {IdentityConfig(), Needs::kNoGpu}},
      {"zero", {ModelOn("gpu_identity", OnGpus("0")), Needs::kGpu0}},
      {"one", {ModelOn("gpu_identity", OnGpus("1")), Needs::kGpu1}},
      {"batches", {ModelOn("gpu_batches", "dynamic_batching { }\n" + OnGpus("0")), Needs::kGpu0}},
      {"batches_one", {ModelOn("gpu_batches", OnGpus("1")), Needs::kGpu1}},
      {"both", {ModelOn("gpu_batches", "dynamic_batching { }\n" + OnGpus("0, 1")), Needs::kAny}},
      {"state", {Stateful(""), Needs::kGpu0, true}},
      {"growing",
       {Stateful("use_same_buffer_for_input_output: true use_growable_memory: true"), Needs::kGpu0,
        true}},
      {"chain", {kChain, Needs::kGpu0}},
  };
  return models;
}

// Output memory on the host or on GPU 0. Thread-safe.
struct Outputs {
  explicit Outputs(Driver* of) : driver(of) {
    EXPECT_TRUE(Ok(TRITONSERVER_ResponseAllocatorNew(&allocator, Give, Take, nullptr)));
  }
  ~Outputs() { EXPECT_TRUE(Ok(TRITONSERVER_ResponseAllocatorDelete(allocator))); }

  // `userp` is a Choice.
  struct Choice {
    Outputs* outputs;
    bool on_gpu;
  };
  static TRITONSERVER_Error* Give(TRITONSERVER_ResponseAllocator*, const char*, size_t byte_size,
                                  TRITONSERVER_MemoryType, int64_t, void* userp, void** buffer,
                                  void** buffer_userp, TRITONSERVER_MemoryType* type, int64_t* id) {
    const auto* const choice = static_cast<const Choice*>(userp);
    *type = choice->on_gpu ? TRITONSERVER_MEMORY_GPU : TRITONSERVER_MEMORY_CPU;
    *id = 0;
    *buffer_userp = choice->outputs;
    if (byte_size == 0) return nullptr;
    *buffer = choice->on_gpu ? choice->outputs->driver->Allocate(byte_size) : malloc(byte_size);
    ++choice->outputs->held;
    return nullptr;
  }
  static TRITONSERVER_Error* Take(TRITONSERVER_ResponseAllocator*, void* buffer, void* userp,
                                  size_t, TRITONSERVER_MemoryType type, int64_t) {
    auto* const outputs = static_cast<Outputs*>(userp);
    if (type == TRITONSERVER_MEMORY_GPU) {
      outputs->driver->Free(buffer);
    } else {
      free(buffer);
    }
    --outputs->held;
    return nullptr;
  }

  Driver* const driver;
  TRITONSERVER_ResponseAllocator* allocator = nullptr;
  std::atomic<int64_t> held{0};
};

class GpuStorm {
 public:
  explicit GpuStorm(Driver* driver) : driver_(driver), outputs_(driver) {
    for (const auto& [name, model] : Models()) repository_.AddModel(name, model.config);
    Options options(repository_, TRITONSERVER_MODEL_CONTROL_NONE);
    for (const int gpu : {0, 1}) {
      EXPECT_TRUE(
          Ok(TRITONSERVER_ServerOptionsSetCudaMemoryPoolByteSize(options.get(), gpu, 192 << 10)));
      EXPECT_TRUE(
          Ok(TRITONSERVER_ServerOptionsSetCudaVirtualAddressSize(options.get(), gpu, 2 << 20)));
    }
    EXPECT_TRUE(
        Ok(TRITONSERVER_ServerOptionsSetPinnedMemoryPoolByteSize(options.get(), 256 << 10)));
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogWarn(options.get(), false)));
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogError(options.get(), false)));
    server_ = std::make_unique<TestServer>(options);
  }

  void Run();

 private:
  struct Sender {
    std::mt19937_64 random;
    // The input of the last request of each sequence that has begun; empty: unknown.
    std::map<std::string, std::vector<float>> last;
    uint64_t number = 0;
  };

  void Send(uint64_t number);
  void SendOne(Sender* sender);
  std::vector<float> Values(Sender* sender, const GpuStormModel& model);
  // The right answer; empty if nobody can say.
  std::vector<float> Expected(Sender* sender, const std::string& name, bool starts,
                              const std::vector<float>& values);
  void CheckAnswer(const std::string& name, TRITONSERVER_InferenceResponse* response,
                   const std::vector<float>& expected);
  void CheckError(const std::string& name, const GpuStormModel& model, TRITONSERVER_Error* error);
  bool IsReady(const std::string& model) const;
  // Nothing ends it earlier.
  void Pause(std::chrono::duration<double> length);

  Driver* const driver_;
  Repository repository_;
  Outputs outputs_;
  DiaryAllocator unused_;
  std::unique_ptr<TestServer> server_;
  std::atomic<bool> over_{false};
  std::atomic<bool> lost_{false};  // somebody has been told that GPU 1 has failed
  std::mutex mu_;
  std::condition_variable ended_;
  // By model.
  std::map<std::string, int64_t> right_;
  std::map<std::string, int64_t> right_after_;  // that GPU 1 has failed
  int64_t wanting_ = 0;                         // errors for want of memory
  int64_t refused_ = 0;                         // errors because GPU 1 has failed
};

std::vector<float> GpuStorm::Values(Sender* sender, const GpuStormModel& model) {
  const size_t size = model.stateful               ? 8
                      : sender->random() % 20 == 0 ? 20'000
                                                   : 1 + sender->random() % 2000;
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(sender->random() % 1000);
  return values;
}

std::vector<float> GpuStorm::Expected(Sender* sender, const std::string& name, bool starts,
                                      const std::vector<float>& values) {
  if (!Models().at(name).stateful) return values;
  std::vector<float>& last = sender->last[name];
  const std::vector<float> before = starts ? std::vector<float>(8) : last;
  last = values;
  return before;
}

void GpuStorm::CheckAnswer(const std::string& name, TRITONSERVER_InferenceResponse* response,
                           const std::vector<float>& expected) {
  const char* output = nullptr;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  const int64_t* dims = nullptr;
  uint64_t dim_count = 0;
  const void* base = nullptr;
  size_t byte_size = 0;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t id = -1;
  void* userp = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_InferenceResponseOutput(
      response, 0, &output, &data_type, &dims, &dim_count, &base, &byte_size, &type, &id, &userp)));
  std::vector<float> found(byte_size / sizeof(float));
  if (type == TRITONSERVER_MEMORY_GPU) {
    driver_->Copy(found.data(), base, byte_size);
  } else {
    std::memcpy(found.data(), base, byte_size);
  }
  if (!expected.empty()) {
    EXPECT_TRUE(found == expected) << name << ": a wrong answer";
  }
  const std::lock_guard<std::mutex> lock(mu_);
  ++right_[name];
  if (lost_) ++right_after_[name];
}

void GpuStorm::CheckError(const std::string& name, const GpuStormModel& model,
                          TRITONSERVER_Error* error) {
  const std::string text = TRITONSERVER_ErrorMessage(error);
  const bool failed = text.find("GPU 1 (GPU-") != std::string::npos ||
                      text.find("CUDA error 700") != std::string::npos;
  const bool wants = text.find("has no room for") != std::string::npos ||
                     // A sequence that had to wait for a second has been forgotten.
                     text.find("must specify the START flag") != std::string::npos ||
                     text.find("out of memory") != std::string::npos;
  const bool allowed = failed ? model.needs == Needs::kGpu1 || model.needs == Needs::kAny : wants;
  EXPECT_TRUE(allowed) << name << ": " << TRITONSERVER_ErrorCodeString(error) << ": " << text;
  if (failed) lost_ = true;
  const std::lock_guard<std::mutex> lock(mu_);
  ++(failed ? refused_ : wanting_);
}

void GpuStorm::SendOne(Sender* sender) {
  auto chosen = Models().begin();
  std::advance(chosen, sender->random() % Models().size());
  const auto& [name, model] = *chosen;
  const std::vector<float> values = Values(sender, model);
  const size_t byte_size = values.size() * sizeof(float);
  const bool from_gpu = sender->random() % 2 == 0;
  Outputs::Choice choice{&outputs_, sender->random() % 2 == 0};
  void* const given = from_gpu ? driver_->Allocate(byte_size) : nullptr;
  {
    Call call(*server_, name, &unused_);
    call.SetAllocator(outputs_.allocator, &choice);
    TRITONSERVER_InferenceRequest* const request = call.request();
    const bool starts = sender->last[name].empty() || sender->random() % 8 == 0;
    if (model.stateful) {
      EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestSetCorrelationId(request, sender->number + 1)));
      EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestSetFlags(
          request, starts ? TRITONSERVER_REQUEST_FLAG_SEQUENCE_START : 0)));
    }
    const int64_t shape[] = {1, static_cast<int64_t>(values.size())};
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestAddInput(request, "INPUT0", TRITONSERVER_TYPE_FP32,
                                                         shape, 2)));
    if (from_gpu) driver_->Copy(given, values.data(), byte_size);
    EXPECT_TRUE(Ok(TRITONSERVER_InferenceRequestAppendInputData(
        request, "INPUT0", from_gpu ? given : values.data(), byte_size,
        from_gpu ? TRITONSERVER_MEMORY_GPU : TRITONSERVER_MEMORY_CPU, 0)));
    const std::vector<float> expected = Expected(sender, name, starts, values);
    TRITONSERVER_Error* error = call.Issue();
    ResponsePtr response;
    if (error == nullptr) {
      response = call.TakeResponse();
      error = TRITONSERVER_InferenceResponseError(response.get());
    }
    if (error == nullptr) {
      CheckAnswer(name, response.get(), expected);
    } else {
      sender->last[name].clear();  // the next one starts anew
      CheckError(name, model, error);
      TRITONSERVER_ErrorDelete(error);
    }
  }
  if (from_gpu) driver_->Free(given);
}

void GpuStorm::Send(uint64_t number) {
  Sender sender;
  sender.random.seed(storm_seed * 1000 + number);
  sender.number = number;
  while (!over_) SendOne(&sender);
}

void GpuStorm::Pause(std::chrono::duration<double> length) {
  std::unique_lock<std::mutex> lock(mu_);
  ended_.wait_for(lock, length, [this] { return over_.load(); });
}

bool GpuStorm::IsReady(const std::string& model) const {
  bool ready = false;
  EXPECT_TRUE(Ok(TRITONSERVER_ServerModelIsReady(server_->get(), model.c_str(), -1, &ready)));
  return ready;
}

void GpuStorm::Run() {
  std::vector<std::thread> senders;
  for (uint64_t i = 0; i < kSenders; ++i) senders.emplace_back([this, i] { Send(i); });
  Pause(std::chrono::duration<double>(storm_seconds));
  // Until GPU 1 has failed and the others have been served afterwards.
  const auto served = [this] {
    const std::lock_guard<std::mutex> lock(mu_);
    for (const auto& [name, model] : Models()) {
      const bool on_other = model.needs == Needs::kNoGpu || model.needs == Needs::kGpu0;
      if (on_other && right_after_[name] == 0) return false;
    }
    return true;
  };
  while (!served()) Pause(std::chrono::milliseconds(10));
  // A model's readiness is asked of its instances once in a second.
  while (IsReady("one") || IsReady("both")) Pause(std::chrono::milliseconds(10));
  over_ = true;
  for (std::thread& sender : senders) sender.join();
  for (const char* name : {"cpu", "zero", "batches", "state", "growing", "chain"}) {
    EXPECT_TRUE(IsReady(name)) << name;
  }
  server_->Delete();
  EXPECT_EQ(outputs_.held, 0);
  int64_t all = 0;
  for (const auto& [name, count] : right_) all += count;
  std::printf("seed %llu: %lld right, %lld without room, %lld refused because GPU 1 had failed\n",
              static_cast<unsigned long long>(storm_seed), static_cast<long long>(all),
              static_cast<long long>(wanting_), static_cast<long long>(refused_));
  EXPECT_GT(right_["one"], 0);
  EXPECT_GT(wanting_, 0);
  EXPECT_GT(refused_, 0);
}

TEST(CApiGpuStorm, AGpuThatIsLostLeavesTheOthersServing) {
  const auto copies = static_cast<int64_t>(100 + storm_seconds * kCopiesPerSecond);
  const std::string faults = "copy@1:" + std::to_string(copies) +
                             ":700,cuMemAlloc_v2@1:1:2,cuMemHostAlloc:1:2,cuMemCreate:1:2";
  setenv("SIMULATED_CUDA_FAULTS", faults.c_str(), 1);
  setenv("SIMULATED_CUDA_SEED", std::to_string(storm_seed).c_str(), 1);
  setenv("SIMULATED_CUDA_WAIT_US", "200", 1);
  {
    Driver driver(2);
    GpuStorm(&driver).Run();
  }
  const SimulatedCudaState state = Driver::State();
  EXPECT_EQ(state.contexts, 0u);
  EXPECT_EQ(state.device_blocks, 0u);
  EXPECT_EQ(state.host_blocks, 0u);
  EXPECT_EQ(state.opened_regions, 0u);
  EXPECT_EQ(state.reservations, 0u);
  EXPECT_EQ(state.memory_blocks, 0u);
  EXPECT_EQ(state.streams, 0u);
  EXPECT_EQ(state.events, 0u);
  EXPECT_EQ(state.waiting_copies, 0u);
  EXPECT_EQ(state.early_frees, 0u);
}

}  // namespace
}  // namespace nereid_test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    char* end = nullptr;
    if (word.rfind("--seconds=", 0) == 0) {
      nereid_test::storm_seconds = std::strtod(word.c_str() + 10, &end);
    } else if (word.rfind("--seed=", 0) == 0) {
      nereid_test::storm_seed = std::strtoull(word.c_str() + 7, &end, 10);
    }
    if (end == nullptr || *end != '\0') {
      std::fprintf(stderr, "usage: %s [--seconds=S] [--seed=N]\n", argv[0]);
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
