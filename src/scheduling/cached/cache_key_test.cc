// SPDX-License-Identifier: Apache-2.0
#include "scheduling/cached/cache_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "infer/testing/fake_model.h"
#include "infer/testing/test_request.h"

namespace nereid {
namespace {

class CacheKeyTest : public testing::Test {
 protected:
  // A request with the inputs a = [1, 2, 3, 4], as two rows of two, and b = "text". The destructor
  // releases it.
  class Request {
   public:
    explicit Request(const std::shared_ptr<ServingModel>& model,
                     const std::function<void(TestRequest&)>& more = {})
        : request_(model) {
      request_.Input("a", DataType::kInt8, {2, 2}, std::string("\1\2\3\4", 4));
      request_.Input("b", DataType::kBytes, {2, 1},
                     TestRequest::StringElement("te") + TestRequest::StringElement("xt"));
      if (more) more(request_);
      owned_ = request_.Issue();
    }
    ~Request() { owned_->stream()->SendFinalError(absl::InternalError("done")); }
    const InferRequest& operator*() { return *owned_; }

   private:
    TestRequest request_;
    RequestPtr owned_;
  };

  static ModelBuilder Builder(const std::string& name = "m") {
    ModelBuilder builder(name);
    builder.MaxBatch(8)
        .Input("a", DataType::kInt8, {-1})
        .Input("b", DataType::kBytes, {-1})
        .Output("x", DataType::kInt8, {-1})
        .Output("y", DataType::kInt8, {-1});
    return builder;
  }

  std::string KeyWith(const std::function<void(TestRequest&)>& more) {
    Request request(model_, more);
    return keys_.Of(*request);
  }
  // The key of the same request with other bytes in input `name`.
  std::string KeyWithInput(const std::string& name, DataType type, const Shape& shape,
                           const std::string& bytes) {
    return KeyWith([&](TestRequest& request) {
      ASSERT_TRUE(request->RemoveInput(name).ok());
      request.Input(name, type, shape, bytes);
    });
  }

  const std::shared_ptr<FakeModel> model_ = FakeModel::Make(Builder());
  const CacheKeys keys_{model_->config(), "print"};
};

TEST_F(CacheKeyTest, EqualRequestsHaveTheSameKeyWhateverDoesNotCount) {
  const std::string key = KeyWith({});
  EXPECT_THAT(key, testing::MatchesRegex("[0-9a-f]{32}"));
  EXPECT_EQ(KeyWith({}), key);
  EXPECT_EQ(KeyWith([](TestRequest& r) {
              r->set_id("an id");
              r->set_priority(3);
              r->set_timeout_us(5);
              r->set_correlation_id(CorrelationId(uint64_t{7}));
              r->set_flags(kRequestFlagSequenceStart);
            }),
            key);
  EXPECT_EQ(KeyWithInput("a", DataType::kInt8, {2, 2}, std::string("\1\2\3\4", 4)), key)
      << "the order of the inputs";
}

TEST_F(CacheKeyTest, EveryPartCounts) {
  const auto text = [](const char* a, const char* b) {
    return TestRequest::StringElement(a) + TestRequest::StringElement(b);
  };
  const auto parameter = [](const char* name, ParameterValue value) {
    return [=](TestRequest& r) { r->AddParameter({name, value}); };
  };
  const std::vector<std::string> keys = {
      KeyWith({}),
      KeyWithInput("a", DataType::kInt8, {2, 2}, std::string("\1\2\3\5", 4)),
      KeyWithInput("b", DataType::kBytes, {2, 1}, text("tex", "t")),
      KeyWithInput("b", DataType::kBytes, {2, 1}, text("t", "ext")),
      KeyWith([](TestRequest& r) { ASSERT_TRUE(r->AddRequestedOutput("x").ok()); }),
      KeyWith([](TestRequest& r) { ASSERT_TRUE(r->AddRequestedOutput("y").ok()); }),
      KeyWith([](TestRequest& r) {
        ASSERT_TRUE(r->AddRequestedOutput("x").ok());
        ASSERT_TRUE(r->AddRequestedOutput("y").ok());
      }),
      KeyWith(parameter("p", std::string("1"))),
      KeyWith(parameter("p", int64_t{1})),
      KeyWith(parameter("p", true)),
      KeyWith(parameter("p", 1.0)),
      KeyWith(parameter("q", true)),
  };
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
}

TEST_F(CacheKeyTest, ShapeCountsWhereTheBytesAreTheSame) {
  const auto key = [&](const Shape& a) {
    TestRequest request(model_);
    request.Input("a", DataType::kInt8, a, std::string("\1\2\3\4", 4));
    std::string strings;
    for (int64_t row = 0; row < a[0]; ++row) strings += TestRequest::StringElement("");
    request.Input("b", DataType::kBytes, {a[0], 1}, strings);
    const RequestPtr owned = request.Issue();
    owned->stream()->SendFinalError(absl::InternalError("done"));
    return keys_.Of(*owned);
  };
  EXPECT_NE(key({1, 4}), key({2, 2}));
  EXPECT_NE(key({2, 2}), key({4, 1}));
}

TEST_F(CacheKeyTest, ParametersCountInTheOrderOfTheirNames) {
  const Parameter p{"p", int64_t{1}}, q{"q", int64_t{2}};
  const std::string key = KeyWith([&](TestRequest& r) {
    r->AddParameter(p);
    r->AddParameter(q);
  });
  EXPECT_EQ(KeyWith([&](TestRequest& r) {
              r->AddParameter(q);
              r->AddParameter(p);
            }),
            key);
}

TEST_F(CacheKeyTest, ModelVersionAndFingerprintCount) {
  Request request(model_);
  CompiledModel other_version = model_->config();
  other_version.version = 2;
  const std::set<std::string> keys = {keys_.Of(*request),
                                      CacheKeys(model_->config(), "other print").Of(*request),
                                      CacheKeys(other_version, "print").Of(*request),
                                      CacheKeys(Builder("n").Build(), "print").Of(*request)};
  EXPECT_EQ(keys.size(), 4u);
}

TEST_F(CacheKeyTest, WhatLiesOnAGpuOrDiffersByInstanceHasNoKey) {
  Request plain(model_);
  EXPECT_TRUE(CacheKeys::CanName(*plain));
  static constexpr char kByte = 1;
  InferRequest gpu(model_, -1), per_policy(model_, -1);
  (*gpu.AddInput("a", DataType::kInt8, {1, 1}))
      ->AppendBuffer({&kByte, 1, MemoryPlace{MemoryType::kGpu, 0}});
  EXPECT_FALSE(CacheKeys::CanName(gpu));
  InferInput* const input = *per_policy.AddInput("a", DataType::kInt8, {1, 1});
  input->AppendBuffer({&kByte, 1, MemoryPlace{}});
  EXPECT_TRUE(CacheKeys::CanName(per_policy));
  input->AppendBufferFor("policy", {&kByte, 1, MemoryPlace{}});
  EXPECT_FALSE(CacheKeys::CanName(per_policy));
}

}  // namespace
}  // namespace nereid
