// SPDX-License-Identifier: Apache-2.0
// Tensors on simulated GPUs that meet a backend which computes on CPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "device/devices.h"
#include "device/testing/simulated_gpus.h"
#include "infer/infer_input.h"
#include "infer/infer_request.h"
#include "infer/request_trace.h"
#include "infer/response.h"
#include "infer/sequence_states.h"
#include "infer/testing/fake_model.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;

constexpr MemoryPlace kHost;
constexpr MemoryPlace kGpu0{MemoryType::kGpu, 0};

OutputSpec Spec(std::string name) {
  OutputSpec spec;
  spec.name = std::move(name);
  spec.data_type = DataType::kInt8;
  spec.dims = {4};
  return spec;
}

// Gives buffers on a GPU.
class GpuAllocator final : public OutputAllocator {
 public:
  explicit GpuAllocator(MemoryPool* pool) : pool_(pool) {}
  absl::Status Allocate(const char* name, void* userp, OutputBuffer* buffer) const override {
    buffer->base = *pool_->Allocate(buffer->byte_size);
    buffer->place = kGpu0;
    return absl::OkStatus();
  }
  void Release(const OutputBuffer& buffer) const override {
    EXPECT_EQ(buffer.place.type, MemoryType::kGpu);
    EXPECT_TRUE(pool_->Free(buffer.base).ok());
  }
  Budget* host_budget() const override { return budget; }

  Budget* budget = nullptr;

 private:
  MemoryPool* const pool_;
};

class GpuTensorsTest : public SimulatedGpus {
 protected:
  void Find() {
    devices_ = Devices::Find({}, NEREID_SIMULATED_CUDA);
    pool_ = devices_->gpu_pool(0);
    model_ = FakeModel::Make(ModelBuilder("m").Output(Spec("x")).Output(Spec("y")));
    model_->Use(devices_.get());
    allocator_ = std::make_unique<GpuAllocator>(pool_);
  }
  void TearDown() override {
    model_.reset();
    devices_.reset();
    SimulatedGpus::TearDown();
  }

  // Bytes on the GPU.
  void* Put(const std::string& bytes) {
    void* const there = *pool_->Allocate(bytes.size());
    EXPECT_TRUE(devices_->Copy({{there, kGpu0, bytes.data(), kHost, bytes.size()}}).ok());
    return there;
  }
  std::string Get(const void* there, size_t byte_size) {
    std::string bytes(byte_size, '.');
    EXPECT_TRUE(devices_->Copy({{bytes.data(), kHost, there, kGpu0, byte_size}}).ok());
    return bytes;
  }
  InferInput Input(DataType type, const void* base, uint64_t byte_size, Shape shape) {
    InferInput input("in", type, shape);
    input.AppendBuffer({base, byte_size, kGpu0});
    input.BeginReading(model_.get());
    return input;
  }
  std::unique_ptr<InferResponse> Response() {
    return std::make_unique<InferResponse>(nullptr, model_, "id", allocator_.get(), nullptr);
  }
  // The output "x" or "y" of four bytes.
  static ResponseOutput* Output(InferResponse* response, const char* name, MemoryPlace wish) {
    ResponseOutput* const output = *response->AddOutput(name, DataType::kInt8, {4});
    EXPECT_EQ(output->Allocate(4, wish), absl::OkStatus());
    return output;
  }

  std::unique_ptr<Devices> devices_;
  MemoryPool* pool_ = nullptr;
  std::shared_ptr<FakeModel> model_;
  std::unique_ptr<GpuAllocator> allocator_;
};

std::string Text(const InputBuffer& piece) {
  return std::string(static_cast<const char*>(piece.base), piece.byte_size);
}

TEST_F(GpuTensorsTest, AnInputIsCopiedOnceForEachFlight) {
  Find();
  void* const there = Put("abcd");
  InferInput input = Input(DataType::kInt8, there, 4, {4});
  EXPECT_TRUE(input.on_gpu());
  const auto first = input.OnHost(input.buffers()[0]);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(Text(*first), "abcd");
  EXPECT_EQ(first->place.type, MemoryType::kCpu);
  EXPECT_EQ(input.OnHost(input.buffers()[0])->base, first->base);
  EXPECT_EQ(devices_->Get(0)->copies(CopyWay::kFromDevice), 1u);
  EXPECT_TRUE(devices_->Copy({{there, kGpu0, "efgh", kHost, 4}}).ok());
  input.BeginReading(model_.get());
  EXPECT_EQ(Text(*input.OnHost(input.buffers()[0])), "efgh");
}

TEST_F(GpuTensorsTest, WhatIsOnTheHostStaysWhereItIs) {
  Find();
  const InputBuffer piece{"abcd", 4, kHost};
  InferInput input("in", DataType::kInt8, {4});
  input.AppendBuffer(piece);
  EXPECT_FALSE(input.on_gpu());
  EXPECT_EQ(input.OnHost(piece)->base, piece.base);
}

TEST_F(GpuTensorsTest, StringsAreCheckedWhenTheyHaveBeenCopied) {
  Find();
  const std::string two("\2\0\0\0ab\0\0\0\0", 10);
  void* const there = Put(two);
  InferInput good = Input(DataType::kBytes, there, two.size(), {2});
  EXPECT_EQ(Text(*good.OnHost(good.buffers()[0])), two);
  InferInput bad = Input(DataType::kBytes, there, two.size(), {3});
  EXPECT_EQ(bad.OnHost(bad.buffers()[0]).status(),
            absl::InvalidArgumentError(
                "expected 3 string elements for inference input 'in' for model 'm', got 2"));
}

TEST_F(GpuTensorsTest, ACopyThatFailsIsAnError) {
  Set("SIMULATED_CUDA_FAULTS", "copy:2:700");
  Find();
  InferInput input = Input(DataType::kInt8, Put("abcd"), 4, {4});
  const absl::Status failed = input.OnHost(input.buffers()[0]).status();
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(input.OnHost(input.buffers()[0]).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(GpuTensorsTest, AnOutputIsMadeOnTheHostAndCopiedWhenItIsSent) {
  Find();
  const auto response = Response();
  ResponseOutput* const x = Output(response.get(), "x", kHost);
  ResponseOutput* const y = Output(response.get(), "y", kGpu0);
  ASSERT_EQ(x->buffer().place.type, MemoryType::kCpu);
  ASSERT_EQ(y->buffer().place.type, MemoryType::kGpu);
  EXPECT_EQ(x->Attributes()->memory_type, TRITONSERVER_MEMORY_CPU);
  std::memcpy(x->buffer().base, "abcd", 4);
  response->FinishOutputs();
  EXPECT_EQ(response->status(), absl::OkStatus());
  ASSERT_EQ(x->buffer().place.type, MemoryType::kGpu);
  EXPECT_EQ(x->Attributes()->memory_type, TRITONSERVER_MEMORY_GPU);
  EXPECT_EQ(Get(x->buffer().base, 4), "abcd");
  EXPECT_EQ(devices_->Get(0)->copies(CopyWay::kToDevice), 1u) << "only of the one";
}

TEST_F(GpuTensorsTest, OutputsThatAreNotSentAreGivenBack) {
  Find();
  auto response = Response();
  Output(response.get(), "x", kHost);
  EXPECT_GT(pool_->used(), 0u);
  response.reset();
  EXPECT_EQ(pool_->used(), 0u);
}

TEST_F(GpuTensorsTest, AnOutputThatCannotBeCopiedMakesAnError) {
  Set("SIMULATED_CUDA_FAULTS", "copy:1:700");
  Find();
  const auto response = Response();
  std::memcpy(Output(response.get(), "x", kHost)->buffer().base, "abcd", 4);
  response->FinishOutputs();
  EXPECT_FALSE(response->status().ok());
  EXPECT_TRUE(response->outputs().empty());
  EXPECT_EQ(pool_->used(), 0u);
}

TEST_F(GpuTensorsTest, MemoryOfTheHostForAnOutputIsCharged) {
  Find();
  Budget budget("bytes", 2);
  allocator_->budget = &budget;
  const auto response = Response();
  ResponseOutput* const output = *response->AddOutput("x", DataType::kInt8, {4});
  EXPECT_EQ(output->Allocate(4, kHost).code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(output->allocated());
  EXPECT_EQ(pool_->used(), 0u);
  EXPECT_EQ(output->Allocate(4, kGpu0), absl::OkStatus()) << "takes none";
}

// Notes the tensors that it is told of.
class TensorDiary final : public TraceReceiver {
 public:
  explicit TensorDiary(bool takes_gpu_memory) : takes_gpu_memory_(takes_gpu_memory) {}
  void OnActivity(InferenceTrace*, TraceActivity, uint64_t) override {}
  void OnTensor(InferenceTrace*, TraceActivity activity, const TraceTensor& tensor) override {
    std::string entry = std::string(TraceActivityName(activity)) + " " + tensor.name;
    if (tensor.place.type == MemoryType::kGpu) {
      entry += " on the GPU";
    } else {
      entry += " " + std::string(static_cast<const char*>(tensor.base), tensor.byte_size);
    }
    entries.push_back(entry);
  }
  void OnRelease(std::unique_ptr<InferenceTrace>) override {}
  bool TakesGpuMemory() const override { return takes_gpu_memory_; }

  std::vector<std::string> entries;

 private:
  const bool takes_gpu_memory_;
};

class GpuTracesTest : public GpuTensorsTest {
 protected:
  // Traces a request with an input "efgh" in two pieces on the GPU and its answer "abcd" there.
  std::vector<std::string> Trace(bool takes_gpu_memory) {
    auto diary = std::make_shared<TensorDiary>(takes_gpu_memory);
    const TracePtr trace = HoldTrace(std::make_unique<InferenceTrace>(kTraceTensors, 0, diary));
    auto request = std::make_unique<InferRequest>(model_, 1);
    InferInput& input = **request->AddInput("in", DataType::kInt8, {4});
    input.set_shape({4});
    input.AppendBuffer({Put("ef"), 2, kGpu0});
    input.AppendBuffer({Put("gh"), 2, kGpu0});
    input.BeginReading(model_.get());
    request->set_trace(trace);
    const uint64_t before = copies();
    TraceIssued(request.get());
    EXPECT_EQ(copies(), before) << "not on a thread that may not wait";
    RequestPtr batch[] = {RequestPtr(request.get())};
    TraceLent(batch);
    TraceLent(batch);  // executed again
    (void)batch[0].release();
    const auto response = Response();
    ResponseOutput* const output = Output(response.get(), "x", kGpu0);
    const absl::Status written = devices_->Copy({{output->buffer().base, kGpu0, "abcd", kHost, 4}});
    EXPECT_EQ(written, devices_->Get(0)->failure());
    TraceResponse(trace.get(), *response);
    return diary->entries;
  }
  uint64_t copies() const { return devices_->Get(0)->copies(CopyWay::kFromDevice); }
};

TEST_F(GpuTracesTest, AReceiverThatReadsMemoryOfTheHostGetsCopies) {
  Find();
  EXPECT_THAT(Trace(/*takes_gpu_memory=*/false),
              ElementsAre("TENSOR_QUEUE_INPUT in efgh", "TENSOR_BACKEND_INPUT in efgh",
                          "TENSOR_BACKEND_INPUT in efgh", "TENSOR_BACKEND_OUTPUT x abcd"));
  EXPECT_EQ(copies(), 3u) << "an input's pieces are copied once";
}

TEST_F(GpuTracesTest, AReceiverThatTakesMemoryOfGpusGetsNoCopies) {
  Find();
  EXPECT_THAT(Trace(/*takes_gpu_memory=*/true),
              ElementsAre("TENSOR_QUEUE_INPUT in ", "TENSOR_BACKEND_INPUT in ",
                          "TENSOR_BACKEND_INPUT in ", "TENSOR_BACKEND_OUTPUT x on the GPU"));
  EXPECT_EQ(copies(), 0u);
}

TEST_F(GpuTracesTest, WhatCannotBeCopiedIsToldWithoutItsBytes) {
  Set("SIMULATED_CUDA_FAULTS", "copy:4:700");
  Find();
  EXPECT_THAT(Trace(/*takes_gpu_memory=*/false),
              ElementsAre("TENSOR_QUEUE_INPUT in ", "TENSOR_BACKEND_INPUT in ",
                          "TENSOR_BACKEND_INPUT in ", "TENSOR_BACKEND_OUTPUT x "));
}

// A sequence of a model that keeps its state of INT8 elements.
class GpuStatesTest : public GpuTensorsTest {
 protected:
  void Start(bool same_buffer = false, DeviceOptions options = {}, bool growable = false) {
    devices_ = Devices::Find(std::move(options), NEREID_SIMULATED_CUDA);
    pool_ = devices_->gpu_pool(0);
    StateSpec spec;
    spec.input_name = "IN";
    spec.output_name = "OUT";
    spec.data_type = DataType::kInt8;
    spec.dims = {4};
    spec.same_buffer = same_buffer;
    spec.growable = growable;
    model_ = FakeModel::Make(ModelBuilder("m").State(spec));
    model_->Use(devices_.get());
    states_ = SequenceStates::Create(model_->config());
  }
  void TearDown() override {
    request_.reset();
    states_.reset();
    GpuTensorsTest::TearDown();
  }
  // Where the state is that the next request reads.
  InputBuffer Begin() {
    request_ = std::make_unique<InferRequest>(model_, 1);
    EXPECT_TRUE(states_->AttachTo(request_.get()).ok());
    return request_->FindBackendInput("IN")->buffers().at(0);
  }
  // What a backend reads that computes on CPUs.
  std::string Read() {
    InferInput* const input = request_->FindBackendInput("IN");
    const auto piece = input->OnHost(input->buffers().at(0));
    EXPECT_TRUE(piece.ok()) << piece.status();
    return piece.ok() ? Text(*piece) : "";
  }
  PlacedMemory Write(const std::string& bytes, MemoryPlace wish) {
    SequenceState* const state =
        *states_->NewOutput("OUT", DataType::kInt8, {static_cast<int64_t>(bytes.size())});
    const PlacedMemory memory = *state->Buffer(bytes.size(), wish);
    if (memory.place.type == MemoryType::kGpu) {
      EXPECT_TRUE(
          devices_->Copy({{memory.base, memory.place, bytes.data(), kHost, bytes.size()}}).ok());
    } else {
      std::memcpy(memory.base, bytes.data(), bytes.size());
    }
    EXPECT_EQ(static_cast<int>(state->Attributes()->memory_type),
              static_cast<int>(memory.place.type));
    state->Update();
    return memory;
  }

  std::unique_ptr<SequenceStates> states_;
  std::unique_ptr<InferRequest> request_;
};

TEST_F(GpuStatesTest, AStateIsWhereTheBackendWantsIt) {
  Start();
  EXPECT_EQ(Begin().place, kHost) << "a sequence starts there";
  const PlacedMemory first = Write("abcd", kGpu0);
  EXPECT_EQ(first.place, kGpu0);
  const InputBuffer shown = Begin();
  EXPECT_EQ(shown.base, first.base) << "without a copy";
  EXPECT_EQ(shown.place, kGpu0);
  EXPECT_EQ(Read(), "abcd");
  const PlacedMemory second = Write("efgh", kGpu0);
  EXPECT_NE(second.base, first.base);
  Begin();
  EXPECT_EQ(Read(), "efgh");
  EXPECT_EQ(Write("ijkl", kGpu0).base, first.base) << "the two buffers are used in turn";
  EXPECT_EQ(Begin().place, kGpu0);
  EXPECT_EQ(Write("mnop", kHost).place, kHost);
  EXPECT_EQ(Begin().place, kHost);
  EXPECT_EQ(Read(), "mnop");
}

TEST_F(GpuStatesTest, ASequenceThatStartsAnewStartsOnTheHost) {
  Start();
  Begin();
  Write("abcd", kGpu0);
  Begin();
  states_->Reset();
  EXPECT_EQ(Begin().place, kHost);
  EXPECT_EQ(Read(), std::string(4, '\0'));
}

TEST_F(GpuStatesTest, OneBufferForBothTakesItsBytesAlong) {
  Start(/*same_buffer=*/true);
  Begin();
  Write("abcd", kHost);
  Begin();
  SequenceState* const state = *states_->NewOutput("OUT", DataType::kInt8, {8});
  const PlacedMemory moved = *state->Buffer(8, kGpu0);
  EXPECT_EQ(moved.place, kGpu0);
  EXPECT_EQ(Get(moved.base, 4), "abcd");
  EXPECT_EQ(Read(), "abcd") << "what the request was shown is still there";
  const PlacedMemory grown = *state->Buffer(4096, kGpu0);
  EXPECT_NE(grown.base, moved.base);
  EXPECT_EQ(Get(grown.base, 4), "abcd");
  state->Update();
  EXPECT_EQ(Begin().base, grown.base);
}

TEST_F(GpuStatesTest, AGrowableStateStaysWhereItIs) {
  DeviceOptions options;
  options.gpu_pool_bytes[0] = 0;
  options.address_bytes[0] = 4 << 20;
  Start(/*same_buffer=*/true, options, /*growable=*/true);
  Begin();
  Write("abcd", kHost);
  Begin();
  SequenceState* const state = *states_->NewOutput("OUT", DataType::kInt8, {8});
  const PlacedMemory moved = *state->Buffer(8, kGpu0);
  EXPECT_EQ(moved.place, kGpu0);
  EXPECT_EQ(Get(moved.base, 4), "abcd");
  EXPECT_EQ(Read(), "abcd");
  const PlacedMemory grown = *state->Buffer(3 << 20, kHost);
  EXPECT_EQ(grown.place, kGpu0) << "whatever is wished for from now on";
  EXPECT_EQ(grown.base, moved.base);
  EXPECT_EQ(Get(grown.base, 4), "abcd");
  EXPECT_EQ(state->Buffer((4 << 20) + 1, kGpu0).status().code(),
            absl::StatusCode::kInvalidArgument);
  state->Update();
  const InputBuffer shown = Begin();
  EXPECT_EQ(shown.base, moved.base);
  EXPECT_EQ(shown.byte_size, 3u << 20);
  EXPECT_EQ(devices_->Get(0)->copies(CopyWay::kWithinDevice), 0u);
  states_->Reset();
  EXPECT_EQ(Begin().place, kHost);
  EXPECT_EQ(State().reservations, 0u);
}

TEST_F(GpuStatesTest, AGrowableStateThatFindsNoMemoryIsAnError) {
  Set("SIMULATED_CUDA_FAULTS", "cuMemCreate:1:2");
  Start(/*same_buffer=*/true, {}, /*growable=*/true);
  Begin();
  SequenceState* const state = *states_->NewOutput("OUT", DataType::kInt8, {8});
  EXPECT_EQ(state->Buffer(8, kGpu0).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Read(), std::string(4, '\0'));
  EXPECT_EQ(state->Buffer(8, kGpu0)->place, kGpu0);
}

TEST_F(GpuStatesTest, AFullPoolIsNoError) {
  DeviceOptions options;
  options.gpu_pool_bytes[0] = 256;
  options.pinned_pool_bytes = 0;
  Start(/*same_buffer=*/false, options);
  Begin();
  EXPECT_EQ(Write("abcd", kGpu0).place, kGpu0);
  Begin();
  EXPECT_EQ(Write("efgh", kGpu0).place, kHost);
  EXPECT_EQ(Begin().place, kHost);
  EXPECT_EQ(Read(), "efgh");
}

TEST_F(GpuStatesTest, AGpuThatIsNotUsedIsNoError) {
  Start();
  Begin();
  const PlacedMemory memory = Write("abcd", {MemoryType::kGpu, 7});
  EXPECT_EQ(memory.place, kHost);
}

}  // namespace
}  // namespace nereid
