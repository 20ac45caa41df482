// SPDX-License-Identifier: Apache-2.0
// Ensembles whose steps run on simulated GPUs: where the tensors between them are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "device/devices.h"
#include "scheduling/testing/ensemble_fixture.h"

namespace nereid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr MemoryPlace kHost;
constexpr MemoryPlace kGpu0{MemoryType::kGpu, 0};

class EnsembleGpuTest : public EnsembleFixture {
 protected:
  void Find(DeviceOptions options = {}) {
    found_ = Devices::Find(std::move(options), NEREID_SIMULATED_CUDA);
    devices_ = found_.get();
  }
  void TearDown() override {
    EnsembleFixture::TearDown();
    if (found_ == nullptr) return;
    EXPECT_EQ(found_->gpu_pool(0)->used(), 0u);
    EXPECT_EQ(found_->pinned_pool()->used(), 0u);
  }

  // A step with a model of its own, which has an instance on a GPU.
  void OnGpu(const std::string& name, const std::string& from, const std::string& to,
             bool cached = false) {
    ModelBuilder builder(name);
    builder.Input("I", DataType::kInt32, {-1}).Output("O", DataType::kInt32, {-1});
    CompiledModel config = builder.Build();
    config.instances.resize(1);
    config.instances[0].kind = InstanceKind::kGpu;
    config.response_cache = cached;
    steps_[name] = std::make_unique<FakeStep>(std::move(config));
    step(name).model()->Use(devices_);
    Step(name, {{"I", from}}, {{"O", to}});
  }

  // Answers as a backend that makes its output on the GPU; says where the server wanted it.
  MemoryPlace FinishOnGpu(const std::string& name, const Ints& ints) {
    RequestPtr request = step(name).Take();
    request->lifecycle().MoveTo(RequestState::kExecuting, "").IgnoreError();
    request->model()->statistics().AddPending(-1);
    const std::shared_ptr<ResponseStream> stream = request->stream();
    std::unique_ptr<InferResponse> response = stream->NewResponse();
    const size_t bytes = ints.size() * sizeof(int32_t);
    ResponseOutput* const output =
        *response->AddOutput("O", DataType::kInt32, {static_cast<int64_t>(ints.size())});
    EXPECT_EQ(output->Allocate(bytes, kGpu0), absl::OkStatus());
    const OutputBuffer made = output->buffer();
    Write(made, ints);
    EXPECT_TRUE(stream->Send(std::move(response), kResponseCompleteFinal).ok());
    return made.place;
  }
  void Write(const OutputBuffer& to, const Ints& ints) {
    if (to.place.type != MemoryType::kGpu) {
      std::memcpy(to.base, ints.data(), to.byte_size);
      return;
    }
    EXPECT_TRUE(devices_->Copy({{to.base, to.place, ints.data(), kHost, to.byte_size}}).ok());
  }
  // What the next request of a step has as its input, and where.
  Ints Read(const std::string& name, MemoryPlace* place) {
    const RequestPtr request = step(name).Take();
    const InputBuffer piece = request->FindInput("I")->buffers().at(0);
    *place = piece.place;
    const InputBuffer here = *request->FindInput("I")->OnHost(piece);
    const Ints ints = ToInts(here.base, here.byte_size);
    FakeStep::Send(request.get(), {{"O", ints}}, kResponseCompleteFinal);
    request->model()->statistics().AddPending(-1);
    request->lifecycle().MoveTo(RequestState::kExecuting, "").IgnoreError();
    return ints;
  }

  std::unique_ptr<Devices> found_;
};

TEST_F(EnsembleGpuTest, ATensorStaysOnTheGpuThatReadsIt) {
  Find();
  Input("i");
  Output("o");
  OnGpu("first", "i", "t");
  OnGpu("second", "t", "o");
  Build();
  TestRequest& request = Start({{"i", {1}}});
  EXPECT_EQ(FinishOnGpu("first", {5, 6}), kGpu0);
  EXPECT_GT(found_->gpu_pool(0)->used(), 0u);
  MemoryPlace place;
  EXPECT_THAT(Read("second", &place), ElementsAre(5, 6));
  EXPECT_EQ(place, kGpu0);
  request.WaitDone();
  EXPECT_THAT(OutputOf(*request.answer(0).response, "o"), ElementsAre(5, 6));
  EXPECT_EQ(found_->gpu_pool(0)->used(), 0u) << "freed after its last use";
}

TEST_F(EnsembleGpuTest, ATensorThatACpuReadsIsOnTheHost) {
  Find();
  Input("i");
  Output("o");
  Output("p");
  OnGpu("first", "i", "t");
  OnGpu("second", "t", "o");
  Step("third", "t", "p");
  Build();
  TestRequest& request = Start({{"i", {1}}});
  EXPECT_EQ(FinishOnGpu("first", {5}), kHost);
  EXPECT_EQ(FinishOnGpu("second", {6}), kHost) << "a client's output";
  MemoryPlace place;
  EXPECT_THAT(Read("third", &place), ElementsAre(5));
  request.WaitDone();
  EXPECT_THAT(OutputOf(*request.answer(0).response, "o"), ElementsAre(6));
}

TEST_F(EnsembleGpuTest, WhatTheResponseCacheMayKeepIsOnTheHost) {
  Find();
  Input("i");
  Output("o");
  OnGpu("first", "i", "t");
  OnGpu("second", "t", "u", /*cached=*/true);
  OnGpu("third", "u", "o");
  Build();
  TestRequest& request = Start({{"i", {1}}});
  EXPECT_EQ(FinishOnGpu("first", {5}), kHost);
  EXPECT_EQ(FinishOnGpu("second", {6}), kHost);
  EXPECT_EQ(FinishOnGpu("third", {7}), kHost);
  request.WaitDone();
}

TEST_F(EnsembleGpuTest, OnlyTheStepsThatRunCount) {
  Find();
  Input("i");
  Output("o");
  Output("p");
  OnGpu("first", "i", "t");
  OnGpu("second", "t", "o");
  Step("third", "t", "p");
  Build();
  TestRequest& request = Start({{"i", {1}}}, {"o"});
  EXPECT_EQ(FinishOnGpu("first", {5}), kGpu0);
  MemoryPlace place;
  EXPECT_THAT(Read("second", &place), ElementsAre(5));
  request.WaitDone();
}

TEST_F(EnsembleGpuTest, AnOutputForAClientOnAGpuStaysThereUntilItIsCopied) {
  Find();
  Input("i");
  Output("t");
  Output("o");
  OnGpu("first", "i", "t");
  OnGpu("second", "t", "o");
  Build();
  TestRequest& request = NewRequest();
  request.AnswerOnGpu();
  AddInts(&request, "i", {1});
  ASSERT_TRUE(TryStart(&request).ok());
  EXPECT_EQ(FinishOnGpu("first", {7}), kGpu0);
  EXPECT_EQ(FinishOnGpu("second", {8}), kGpu0);
  request.WaitDone();
  EXPECT_TRUE(request.final_status().ok()) << request.final_status();
  EXPECT_THAT(OutputOf(*request.answer(0).response, "t"), ElementsAre(7));
  EXPECT_THAT(OutputOf(*request.answer(0).response, "o"), ElementsAre(8));
}

TEST_F(EnsembleGpuTest, AFullPoolIsNoError) {
  DeviceOptions options;
  options.gpu_pool_bytes[0] = 256;
  options.pinned_pool_bytes = 256;
  Find(options);
  Input("i");
  Output("o");
  OnGpu("first", "i", "t");
  OnGpu("second", "t", "o");
  Build();
  testing::internal::CaptureStderr();
  const auto run = [&](const Ints& ints) {
    TestRequest& request = Start({{"i", {1}}});
    FinishOnGpu("first", ints);
    MemoryPlace place;
    EXPECT_EQ(Read("second", &place), ints);
    request.WaitDone();
    return place.type;
  };
  const auto held = found_->Allocate(kGpu0, 256);
  ASSERT_TRUE(held.has_value());
  EXPECT_EQ(run({5}), MemoryType::kCpuPinned);
  EXPECT_EQ(run(Ints(100, 5)), MemoryType::kCpu);
  EXPECT_EQ(run(Ints(100, 6)), MemoryType::kCpu);
  found_->Free(*held);
  EXPECT_EQ(run({5}), MemoryType::kGpu);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("the memory pool of GPU 0 has no room for 4 bytes: 0 of its 256 "
                             "bytes are free, 0 of them in one piece, falling back to "
                             "pinned system memory"));
  EXPECT_THAT(log, HasSubstr("the pinned memory pool has no room for 400 bytes"));
  EXPECT_THAT(log, HasSubstr("falling back to non-pinned system memory"));
}

}  // namespace
}  // namespace nereid
