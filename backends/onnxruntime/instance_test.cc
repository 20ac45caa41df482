// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/instance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file that declares wrong shapes, made with the `onnx` package: Y = [10, 20][those of I that are
// not negative], declared as INT64 I[2], FP32 Y[2]. With a negative element Y is shorter than
// declared; one above 1 is refused by the runtime as an invalid argument.
constexpr std::string_view kLookup =
    "08083a94010a120a01490a016d1201622207477265617465720a200a01490a01621201632208436f6d707265"
    "73732a0b0a04617869731800a001020a110a01440a016312015922064761746865721201672a1110073a0aff"
    "ffffffffffffffff0142016d2a11080210012208000020410000a0414201445a0f0a0149120a0a0808071204"
    "0a020802620f0a0159120a0a08080112040a02080242040a001011";

// Y = -[10, 20][I], Z = -I, declared as INT64 I[2], FP32 Y[2], INT64 Z[2].
constexpr std::string_view kTwoOutputs =
    "08083a760a110a01630a014912014c22064761746865720a0b0a014c12015922034e65670a0b0a014912015a"
    "22034e656712016d2a11080210012208000020410000a0414201635a0f0a0149120a0a08080712040a020802"
    "620f0a0159120a0a08080112040a020802620f0a015a120a0a08080712040a02080242040a00100d";

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

class LoadedTest : public ::testing::Test {
 protected:
  // Loads a model with the input INT64 I[2] and one instance. `outputs`: as in the configuration.
  void Load(std::string_view file, const std::string& outputs) {
    Result<std::unique_ptr<Environment>> environment = Environment::Create(Json(), "");
    ASSERT_TRUE(environment.ok());
    environment_ = std::move(*environment);
    backend_.state = environment_.get();
    handle_.backend = &backend_;
    handle_.name = "m";
    handle_.directory = ::testing::TempDir() + "/m";
    handle_.config = R"({"name":"m","max_batch_size":0,
        "input":[{"name":"I","data_type":"TYPE_INT64","dims":[2]}],"output":[)" +
                     outputs + "]}";
    std::filesystem::create_directories(handle_.directory + "/1");
    std::ofstream(handle_.directory + "/1/model.onnx", std::ios::binary) << FromHex(file);
    Result<std::unique_ptr<OnnxModel>> model = OnnxModel::Create(&handle_);
    ASSERT_TRUE(model.ok()) << model.TakeError().message();
    model_ = std::move(*model);
    Result<std::unique_ptr<OnnxInstance>> instance =
        OnnxInstance::Create(&instance_handle_, *model_);
    ASSERT_TRUE(instance.ok());
    instance_ = std::move(*instance);
  }
  void TearDown() override { EXPECT_EQ(testing::LiveErrors(), 0); }

  // The answer to one request for `output`.
  testing::SeenResponse Run(std::initializer_list<int64_t> indices,
                            const std::string& output = "Y") {
    TRITONBACKEND_Request request;
    const std::string data(reinterpret_cast<const char*>(indices.begin()), indices.size() * 8);
    request.inputs.push_back(testing::MakeInput("I", TRITONSERVER_TYPE_INT64, {2}, data));
    request.wanted_outputs = {output};
    TRITONBACKEND_Request* pointers[] = {&request};
    EXPECT_EQ(RunBatch(&instance_handle_, pointers, 1,
                       [&](Batch& batch) { return instance_->Execute(&batch); }),
              nullptr);
    responses_dropped_ = request.responses_deleted;
    return request.responses.at(0);
  }
  template <typename T = float>
  static std::vector<T> Values(const testing::SeenResponse& response) {
    const std::string& data = response.outputs.at(0).data;
    std::vector<T> values(data.size() / sizeof(T));
    memcpy(values.data(), data.data(), data.size());
    return values;
  }

  std::unique_ptr<Environment> environment_;
  TRITONBACKEND_Backend backend_;
  TRITONBACKEND_Model handle_;
  TRITONBACKEND_ModelInstance instance_handle_;
  std::unique_ptr<OnnxModel> model_;
  std::unique_ptr<OnnxInstance> instance_;
  int responses_dropped_ = 0;  // of the last Run
};

class InstanceTest : public LoadedTest {
 protected:
  void SetUp() override {
    Load(kLookup, R"({"name":"Y","data_type":"TYPE_FP32","dims":[2]})");
    // The first Run confirms what the file declares.
    ASSERT_THAT(Values(Run({0, 1})), ElementsAre(10, 20));
    ASSERT_EQ(model_->bound().shape_trust(), BoundModel::ShapeTrust::kConfirmed);
  }
};

TEST_F(InstanceTest, AnOutputThatDoesNotFitIsComputedOnceMore) {
  const testing::SeenResponse response = Run({1, -3});
  EXPECT_THAT(response.errors, ElementsAre());
  EXPECT_THAT(Values(response), ElementsAre(20));
  EXPECT_THAT(response.outputs.at(0).shape, ElementsAre(1));
  EXPECT_EQ(responses_dropped_, 1);
  EXPECT_EQ(model_->bound().shape_trust(), BoundModel::ShapeTrust::kRefuted);
  EXPECT_THAT(Values(Run({1, 0})), ElementsAre(20, 10));
}

// An error caused by the client's input: the run is not repeated, and the shapes stay trusted.
TEST_F(InstanceTest, AnotherInvalidArgumentIsNot) {
  const testing::SeenResponse response = Run({0, 7});
  ASSERT_EQ(response.errors.size(), 1u);
  EXPECT_EQ(response.errors[0].code, TRITONSERVER_ERROR_INVALID_ARG);
  EXPECT_THAT(response.errors[0].message, HasSubstr("out of data bounds"));
  EXPECT_EQ(responses_dropped_, 0);
  EXPECT_EQ(model_->bound().shape_trust(), BoundModel::ShapeTrust::kConfirmed);
  EXPECT_THAT(Values(Run({1, 0})), ElementsAre(20, 10));
}

// No element 7 can be looked up: that the request succeeds shows that Y is not computed.
TEST_F(LoadedTest, AnOutputThatTheConfigurationLeavesOutIsNotComputed) {
  Load(kTwoOutputs, R"({"name":"Z","data_type":"TYPE_INT64","dims":[2]})");
  const testing::SeenResponse response = Run({0, 7}, "Z");
  EXPECT_THAT(response.errors, ElementsAre());
  EXPECT_THAT(Values<int64_t>(response), ElementsAre(0, -7));
}

// The runtime cannot do otherwise. If it ever does, the documentation may say so.
TEST_F(LoadedTest, OneThatARequestLeavesOutIsComputedAndNotSent) {
  Load(kTwoOutputs, R"({"name":"Y","data_type":"TYPE_FP32","dims":[2]},
                       {"name":"Z","data_type":"TYPE_INT64","dims":[2]})");
  const testing::SeenResponse response = Run({0, 1}, "Z");
  EXPECT_THAT(response.errors, ElementsAre());
  ASSERT_EQ(response.outputs.size(), 1u);
  EXPECT_THAT(Values<int64_t>(response), ElementsAre(0, -1));
  EXPECT_EQ(Run({0, 7}, "Z").errors.size(), 1u);
}

}  // namespace
}  // namespace nereid_backend
