// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/capi/storm/storm_models.h"

#include <cstring>
#include <functional>
#include <map>
#include <utility>

namespace nereid_test {
namespace {

constexpr char kDecoupled[] = "model_transaction_policy { decoupled: true }\n";

std::string Parameter(const std::string& key, const std::string& value) {
  return "parameters { key: \"" + key + "\" value { string_value: \"" + value + "\" } }\n";
}

// Executions of 0 to 2 ms, so that answers overtake each other and queues fill.
std::string Uneven() { return Parameter("execute_delay_ms", "0-2"); }

std::string Instances(int count, const std::string& more = "") {
  return "instance_group { kind: KIND_CPU count: " + std::to_string(count) + " " + more + "}\n";
}

std::string TestingConfig(const std::string& behaviour, const std::string& more) {
  return R"(backend: "testing"
max_batch_size: 4
input { name: "INPUT0" data_type: TYPE_INT32 dims: [ 1 ] }
output { name: "OUTPUT0" data_type: TYPE_INT32 dims: [ 1 ] }
)" + Parameter("behaviour", behaviour) +
         more;
}

std::string RepeatConfig() {
  return R"(backend: "repeat"
input [ { name: "IN" data_type: TYPE_INT32 dims: [ -1 ] },
        { name: "DELAY" data_type: TYPE_UINT32 dims: [ -1 ] },
        { name: "WAIT" data_type: TYPE_UINT32 dims: [ 1 ] } ]
output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] },
         { name: "IDX" data_type: TYPE_UINT32 dims: [ 1 ] } ]
)" + std::string(kDecoupled);
}

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// A vector of floats for a model of IdentityConfig, sometimes a large one. The answer is the same
// vector.
StormRequest Echo(StormRandom* random) {
  const int rows = Draw(random, 1, 3);
  const int columns = Draw(random, 0, 50) == 0 ? 5000 : Draw(random, 0, 2);
  std::vector<float> values(static_cast<size_t>(rows * columns));
  for (float& value : values) value = static_cast<float>(Draw(random, -1000, 1000));
  StormRequest request;
  request.inputs.push_back({"INPUT0", TRITONSERVER_TYPE_FP32, {rows, columns}, BytesOf(values)});
  request.output = "OUTPUT0";
  request.expected.push_back(request.inputs[0].bytes);
  return request;
}

// One of few different requests, so that many have been sent before and may be in the cache.
StormRequest EchoOfFew(StormRandom* random) {
  StormRequest request;
  const float value = static_cast<float>(Draw(random, 0, 9));
  request.inputs.push_back(
      {"INPUT0", TRITONSERVER_TYPE_FP32, {1, 2}, BytesOf(std::vector<float>{value, -value})});
  request.output = "OUTPUT0";
  request.expected.push_back(request.inputs[0].bytes);
  return request;
}

// With any priority and time-out, some of which are invalid for the model or too short.
StormRequest EchoOfAnyUrgency(StormRandom* random) {
  StormRequest request = Echo(random);
  request.priority = static_cast<uint64_t>(Draw(random, 0, 4));
  if (Draw(random, 0, 3) == 0) request.timeout_us = static_cast<uint64_t>(Draw(random, 1, 3000));
  request.may_be_refused = true;
  return request;
}

StormRequest Number(int32_t value) {
  StormRequest request;
  request.inputs.push_back(
      {"INPUT0", TRITONSERVER_TYPE_INT32, {1, 1}, BytesOf(std::vector<int32_t>{value})});
  request.output = "OUTPUT0";
  request.expected.push_back(request.inputs[0].bytes);
  return request;
}

StormRequest NumberThatMayFail(StormRandom* random) {
  const int value = Draw(random, -3, 10);
  StormRequest request = Number(value);
  request.fails = value < 0;
  return request;
}

StormRequest NumberOfResponses(StormRandom* random) {
  const int count = Draw(random, 0, 6);
  StormRequest request = Number(count);
  request.expected.assign(static_cast<size_t>(count), request.inputs[0].bytes);
  request.decoupled = true;
  return request;
}

StormRequest Repeat(StormRandom* random) {
  const auto count = static_cast<size_t>(Draw(random, 0, 5));
  std::vector<int32_t> values(count);
  std::vector<uint32_t> delays(count);
  StormRequest request;
  for (size_t i = 0; i < count; ++i) {
    values[i] = Draw(random, -1000, 1000);
    delays[i] = static_cast<uint32_t>(Draw(random, 0, 5) / 5);
    request.expected.push_back(BytesOf(std::vector<int32_t>{values[i]}));
  }
  const auto elements = static_cast<int64_t>(count);
  request.inputs = {{"IN", TRITONSERVER_TYPE_INT32, {elements}, BytesOf(values)},
                    {"DELAY", TRITONSERVER_TYPE_UINT32, {elements}, BytesOf(delays)},
                    {"WAIT", TRITONSERVER_TYPE_UINT32, {1}, BytesOf(std::vector<uint32_t>{0})}};
  request.output = "OUT";
  request.decoupled = true;
  return request;
}

struct StormModel {
  std::string config;
  std::function<StormRequest(StormRandom*)> draw;
};

const std::map<std::string, StormModel>& StormModels() {
  const auto number = [](StormRandom* random) { return Number(Draw(random, -99, 99)); };
  const auto of_changing = [](StormRandom* random) {
    StormRequest request = EchoOfFew(random);
    request.may_be_refused = true;
    return request;
  };
  const std::string short_queue =
      "{ max_queue_size: 6 allow_timeout_override: true default_timeout_microseconds: 20000 }";
  static const std::map<std::string, StormModel> models = {
      {"plain", {IdentityConfig(), Echo}},
      {"urgent",
       {IdentityConfig("dynamic_batching { priority_levels: 3 default_priority_level: 2\n"
                       "  max_queue_delay_microseconds: 300\n  default_queue_policy " +
                       short_queue +
                       "\n  priority_queue_policy { key: 1 value { max_queue_size: 6\n"
                       "    allow_timeout_override: true } }\n"
                       "  priority_queue_policy { key: 3 value { max_queue_size: 2 } } }\n" +
                       Uneven()),
        EchoOfAnyUrgency}},
      {"late",
       {IdentityConfig("dynamic_batching { preferred_batch_size: [ 4 ] default_queue_policy {\n"
                       "  timeout_action: DELAY allow_timeout_override: true\n"
                       "  default_timeout_microseconds: 2000 } }\n" +
                       Uneven()),
        EchoOfAnyUrgency}},
      {"ordered",
       {IdentityConfig("dynamic_batching { preserve_ordering: true }\n" + Instances(2) + Uneven()),
        Echo}},
      {"limited_a",
       {IdentityConfig(Instances(2, "rate_limiter { resources { name: \"R\" count: 1 } } ")),
        Echo}},
      {"limited_b",
       {IdentityConfig("dynamic_batching { }\n" +
                       Instances(2,
                                 "rate_limiter { resources { name: \"R\" count: 2 } "
                                 "priority: 2 } ") +
                       Uneven()),
        Echo}},
      {"cached", {IdentityConfig("response_cache { enable: true }\n"), EchoOfFew}},
      {"cached_batched",
       {IdentityConfig("dynamic_batching { }\nresponse_cache { enable: true }\n" + Instances(2)),
        EchoOfFew}},
      {kChangingModel, {IdentityConfig("dynamic_batching { }\n" + Uneven()), of_changing}},
      {"some_fail",
       {TestingConfig("fails_some", "dynamic_batching { max_queue_delay_microseconds: 500 }\n"),
        NumberThatMayFail}},
      {"kept", {TestingConfig("keep_requests", Parameter("delay_ms", "1") + Instances(2)), number}},
      {"waits",
       {TestingConfig("wait_for_cancel", Parameter("delay_ms", "2") + Instances(4)), number}},
      {"many",
       {TestingConfig("decoupled", Parameter("responses", "input") + kDecoupled + Instances(2)),
        NumberOfResponses}},
      {"repeat", {RepeatConfig(), Repeat}},
  };
  return models;
}

}  // namespace

int Draw(StormRandom* random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(*random);
}

std::vector<std::string> AddStormModels(Repository* repository) {
  std::vector<std::string> names;
  for (const auto& [name, model] : StormModels()) {
    repository->AddModel(name, model.config);
    names.push_back(name);
  }
  repository->AddModel(kBrokenModel, TestingConfig("fail_on_load", ""));
  return names;
}

StormRequest RandomRequest(const std::string& model, StormRandom* random) {
  StormRequest request = StormModels().at(model).draw(random);
  request.model = model;
  return request;
}

}  // namespace nereid_test
