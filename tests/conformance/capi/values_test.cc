// SPDX-License-Identifier: Apache-2.0
// The parts of the C API that need no server: names, parameters, messages, buffer attributes,
// options, the log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/conformance/capi/harness.h"

namespace nereid_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Names, OfTypes) {
  EXPECT_STREQ(TRITONSERVER_DataTypeString(TRITONSERVER_TYPE_BYTES), "BYTES");
  EXPECT_STREQ(TRITONSERVER_DataTypeString(TRITONSERVER_TYPE_INVALID), "<invalid>");
  EXPECT_EQ(TRITONSERVER_StringToDataType("fp32"), TRITONSERVER_TYPE_INVALID);
  EXPECT_EQ(TRITONSERVER_DataTypeByteSize(TRITONSERVER_TYPE_BF16), 2u);
  EXPECT_EQ(TRITONSERVER_DataTypeByteSize(TRITONSERVER_TYPE_FP64), 8u);
  EXPECT_EQ(TRITONSERVER_DataTypeByteSize(TRITONSERVER_TYPE_BYTES), 0u);
  EXPECT_STREQ(TRITONSERVER_MemoryTypeString(TRITONSERVER_MEMORY_CPU), "CPU");
  EXPECT_STREQ(TRITONSERVER_MemoryTypeString(TRITONSERVER_MEMORY_CPU_PINNED), "CPU_PINNED");
  EXPECT_STREQ(TRITONSERVER_MemoryTypeString(TRITONSERVER_MEMORY_GPU), "GPU");
  EXPECT_STREQ(TRITONSERVER_MemoryTypeString(static_cast<TRITONSERVER_MemoryType>(3)), "<invalid>");
  EXPECT_STREQ(TRITONSERVER_InstanceGroupKindString(TRITONSERVER_INSTANCEGROUPKIND_AUTO), "AUTO");
  EXPECT_STREQ(TRITONSERVER_InstanceGroupKindString(TRITONSERVER_INSTANCEGROUPKIND_CPU), "CPU");
  EXPECT_STREQ(TRITONSERVER_InstanceGroupKindString(TRITONSERVER_INSTANCEGROUPKIND_GPU), "GPU");
  EXPECT_STREQ(TRITONSERVER_InstanceGroupKindString(TRITONSERVER_INSTANCEGROUPKIND_MODEL), "MODEL");
  const char* const parameter_types[] = {"STRING", "INT", "BOOL", "DOUBLE", "BYTES", "<invalid>"};
  for (int i = 0; i < 6; ++i) {
    EXPECT_STREQ(TRITONSERVER_ParameterTypeString(static_cast<TRITONSERVER_ParameterType>(i)),
                 parameter_types[i]);
  }
}

TEST(Parameters, AreMadeForEveryType) {
  const int64_t number = 1;
  const bool flag = true;
  const double real = 0.5;
  const std::pair<TRITONSERVER_ParameterType, const void*> values[] = {
      {TRITONSERVER_PARAMETER_STRING, "text"},
      {TRITONSERVER_PARAMETER_INT, &number},
      {TRITONSERVER_PARAMETER_BOOL, &flag},
      {TRITONSERVER_PARAMETER_DOUBLE, &real},
  };
  for (const auto& [type, value] : values) {
    TRITONSERVER_Parameter* const parameter = TRITONSERVER_ParameterNew("name", type, value);
    EXPECT_NE(parameter, nullptr) << type;
    TRITONSERVER_ParameterDelete(parameter);
  }
  EXPECT_EQ(TRITONSERVER_ParameterNew("name", TRITONSERVER_PARAMETER_BYTES, "text"), nullptr);
  TRITONSERVER_Parameter* const bytes = TRITONSERVER_ParameterBytesNew("name", "text", 4);
  EXPECT_NE(bytes, nullptr);
  TRITONSERVER_ParameterDelete(bytes);
}

TEST(Messages, KeepACopyOfTheirText) {
  std::string text = "{\"a\": 1}";
  TRITONSERVER_Message* message = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_MessageNewFromSerializedJson(&message, text.data(), text.size())));
  text.assign(text.size(), 'x');
  EXPECT_EQ(TakeJson(message), "{\"a\": 1}");
}

TEST(BufferAttributes, KeepWhatIsSet) {
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_BufferAttributesNew(&attributes)));
  size_t byte_size = 9;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_GPU;
  int64_t id = 9;
  void* handle = &id;
  const auto read = [&] {
    EXPECT_TRUE(Ok(TRITONSERVER_BufferAttributesByteSize(attributes, &byte_size)));
    EXPECT_TRUE(Ok(TRITONSERVER_BufferAttributesMemoryType(attributes, &type)));
    EXPECT_TRUE(Ok(TRITONSERVER_BufferAttributesMemoryTypeId(attributes, &id)));
    EXPECT_TRUE(Ok(TRITONSERVER_BufferAttributesCudaIpcHandle(attributes, &handle)));
  };
  read();
  EXPECT_EQ(byte_size, 0u);
  EXPECT_EQ(type, TRITONSERVER_MEMORY_CPU);
  EXPECT_EQ(id, 0);
  EXPECT_EQ(handle, nullptr);
  std::string ipc(64, '\0');
  ipc[63] = 'z';
  const std::string kept = ipc;
  ASSERT_TRUE(Ok(TRITONSERVER_BufferAttributesSetByteSize(attributes, 12)));
  ASSERT_TRUE(Ok(TRITONSERVER_BufferAttributesSetMemoryType(attributes, TRITONSERVER_MEMORY_GPU)));
  ASSERT_TRUE(Ok(TRITONSERVER_BufferAttributesSetMemoryTypeId(attributes, 3)));
  ASSERT_TRUE(Ok(TRITONSERVER_BufferAttributesSetCudaIpcHandle(attributes, ipc.data())));
  ipc.assign(64, 'x');
  read();
  EXPECT_EQ(byte_size, 12u);
  EXPECT_EQ(type, TRITONSERVER_MEMORY_GPU);
  EXPECT_EQ(id, 3);
  EXPECT_EQ(std::string(static_cast<const char*>(handle), 64), kept) << "a copy of its own";
  ASSERT_TRUE(Ok(TRITONSERVER_BufferAttributesDelete(attributes)));
}

TEST(ServerOptions, CheckWhatTheyCan) {
  TRITONSERVER_ServerOptions* options = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsNew(&options)));
  EXPECT_TRUE(Fails(TRITONSERVER_ServerOptionsSetModelControlMode(
                        options, static_cast<TRITONSERVER_ModelControlMode>(3)),
                    TRITONSERVER_ERROR_INVALID_ARG, "unknown control mode '3'"));
  const auto limit = [options](TRITONSERVER_InstanceGroupKind kind, int device, double fraction) {
    return TRITONSERVER_ServerOptionsSetModelLoadDeviceLimit(options, kind, device, fraction);
  };
  EXPECT_TRUE(Ok(limit(TRITONSERVER_INSTANCEGROUPKIND_GPU, 0, 0.5)));
  EXPECT_TRUE(Fails(limit(TRITONSERVER_INSTANCEGROUPKIND_GPU, -1, 0.5),
                    TRITONSERVER_ERROR_INVALID_ARG, "expects device ID >= 0, got -1"));
  EXPECT_TRUE(Fails(limit(TRITONSERVER_INSTANCEGROUPKIND_GPU, 0, 1.5),
                    TRITONSERVER_ERROR_INVALID_ARG,
                    "expects limit fraction to be in range [0.0, 1.0], got 1.5"));
  EXPECT_TRUE(Fails(limit(TRITONSERVER_INSTANCEGROUPKIND_CPU, 0, 0.5),
                    TRITONSERVER_ERROR_INVALID_ARG,
                    "given device kind is not supported, got: CPU"));
  // Options of a program that was written for a machine with GPUs.
  EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetPinnedMemoryPoolByteSize(options, 1 << 28)));
  EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetCudaMemoryPoolByteSize(options, 0, 1 << 26)));
  EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetCudaVirtualAddressSize(options, 0, 1 << 30)));
  EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetMinSupportedComputeCapability(options, 6.0)));
  EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetEnablePeerAccess(options, true)));
  EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetBufferManagerThreadCount(options, 2)));
  EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetGpuMetrics(options, true)));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsDelete(options)));
}

TEST(ServerOptions, WhichLatenciesBecomeMetrics) {
  TRITONSERVER_ServerOptions* options = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsNew(&options)));
  const auto set = [options](const char* name, const char* setting, const char* value) {
    return TRITONSERVER_ServerOptionsSetMetricsConfig(options, name, setting, value);
  };
  EXPECT_TRUE(Ok(set("", "counter_latencies", "true")));
  EXPECT_TRUE(Ok(set("", "counter_latencies", "false")));
  EXPECT_TRUE(Ok(set("", "summary_latencies", "true")));
  EXPECT_TRUE(Ok(set("", "summary_quantiles", "0.5:0.05,0.9:0.01")));
  EXPECT_TRUE(Ok(set(nullptr, "histogram_latencies", "true")));
  EXPECT_TRUE(Fails(set("", "counter_latencies", "yes"), TRITONSERVER_ERROR_INVALID_ARG,
                    "expects 'true' or 'false', got 'yes'"));
  EXPECT_TRUE(Fails(set("", "gauge_latencies", "true"), TRITONSERVER_ERROR_INVALID_ARG,
                    "unknown metrics setting 'gauge_latencies'"));
  EXPECT_TRUE(Fails(set("", "summary_quantiles", "0.5"), TRITONSERVER_ERROR_INVALID_ARG,
                    "expects <quantile>:<error>"));
  EXPECT_TRUE(Fails(set("identity", "counter_latencies", "true"), TRITONSERVER_ERROR_UNSUPPORTED,
                    "the group 'identity'"));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsDelete(options)));
}

// Begins and ends each test with the default settings of the process.
class LogTest : public testing::Test {
 protected:
  LogTest() { Reset(); }
  ~LogTest() override { Reset(); }

  static void Reset() {
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogFile(nullptr, nullptr)));
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogVerbose(nullptr, 0)));
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogInfo(nullptr, true)));
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogWarn(nullptr, true)));
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogError(nullptr, true)));
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogFormat(nullptr, TRITONSERVER_LOG_DEFAULT)));
  }

  std::string Content() const {
    std::stringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }

  Repository directory_;
  const std::string file_ = directory_.path() + "/log.txt";
};

TEST_F(LogTest, WritesWhatIsEnabled) {
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogFile(nullptr, file_.c_str())));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogWarn(nullptr, false)));
  EXPECT_FALSE(TRITONSERVER_LogIsEnabled(TRITONSERVER_LOG_WARN));
  EXPECT_FALSE(TRITONSERVER_LogIsEnabled(TRITONSERVER_LOG_VERBOSE));
  const auto write = [](TRITONSERVER_LogLevel level, const char* text) {
    EXPECT_TRUE(Ok(TRITONSERVER_LogMessage(level, "dir/file.c", 12, text)));
  };
  write(TRITONSERVER_LOG_ERROR, "an error");
  write(TRITONSERVER_LOG_WARN, "a warning");
  write(TRITONSERVER_LOG_VERBOSE, "a detail");
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogVerbose(nullptr, 1)));
  EXPECT_TRUE(TRITONSERVER_LogIsEnabled(TRITONSERVER_LOG_VERBOSE));
  write(TRITONSERVER_LOG_VERBOSE, "another detail");
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogFormat(nullptr, TRITONSERVER_LOG_ISO8601)));
  ASSERT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogError(nullptr, false)));
  write(TRITONSERVER_LOG_ERROR, "a second error");
  write(TRITONSERVER_LOG_INFO, "news");

  const std::string log = Content();
  EXPECT_THAT(log, testing::ContainsRegex("E[0-9]+ [0-9:.]+ [0-9]+ file.c:12] \"an error\"\n"));
  EXPECT_THAT(log, HasSubstr("\"another detail\""));
  EXPECT_THAT(log, testing::ContainsRegex("-[0-9T:-]+Z I [0-9]+ file.c:12] \"news\"\n"));
  EXPECT_THAT(log, Not(HasSubstr("warning")));
  EXPECT_THAT(log, Not(HasSubstr("a detail")));
  EXPECT_THAT(log, Not(HasSubstr("second")));
}

TEST_F(LogTest, RefusesWhatItCannotDo) {
  EXPECT_TRUE(Fails(
      TRITONSERVER_ServerOptionsSetLogFile(nullptr, (directory_.path() + "/no/such/file").c_str()),
      TRITONSERVER_ERROR_INTERNAL, "log file"));
  EXPECT_TRUE(Fails(TRITONSERVER_LogMessage(static_cast<TRITONSERVER_LogLevel>(4), "f", 1, "text"),
                    TRITONSERVER_ERROR_INVALID_ARG, "unknown logging level '4'"));
  EXPECT_TRUE(
      Fails(TRITONSERVER_ServerOptionsSetLogFormat(nullptr, static_cast<TRITONSERVER_LogFormat>(2)),
            TRITONSERVER_ERROR_INVALID_ARG, "unknown logging format '2'"));
}

}  // namespace
}  // namespace nereid_test
