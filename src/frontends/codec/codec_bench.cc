// SPDX-License-Identifier: Apache-2.0
// The cost of one request in the codec: reading the body and writing the answer.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontends/codec/codec_testing.h"
#include "frontends/codec/generate_request_reader.h"
#include "frontends/codec/v2_request_reader.h"
#include "frontends/codec/v2_response_writer.h"

namespace nereid {
namespace {

using codec_testing::MakeModel;
using codec_testing::MakeModelWithInputs;
using codec_testing::PaddedBytes;

// A request of `count` FP32 values as JSON; with `binary`, only the JSON part of a request whose
// values are binary.
std::string RequestJson(int64_t count, bool binary) {
  std::string json = R"({"id":"1","inputs":[{"name":"INPUT0","shape":[)" + std::to_string(count) +
                     R"(],"datatype":"FP32",)";
  if (binary) {
    json += R"("parameters":{"binary_data_size":)" + std::to_string(count * 4) + "}}]";
    return json + R"(,"outputs":[{"name":"OUTPUT0","parameters":{"binary_data":true}}]})";
  }
  json += R"("data":[)";
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) json += ',';
    json += std::to_string(static_cast<double>(i) * 0.37);
  }
  return json + "]}]}";
}

void Read(benchmark::State& state, const std::string& json, size_t tail_bytes) {
  const bool binary = tail_bytes > 0;
  const PaddedBytes body(json + std::string(tail_bytes, '\0'), json.size());
  const auto model = MakeModel();
  const std::optional<size_t> header_length =
      binary ? std::optional<size_t>(json.size()) : std::nullopt;
  RequestBuffers buffers;
  for (auto _ : state) {
    InferRequest request(model, -1);
    OutputFormats formats;
    buffers.Clear();
    const absl::Status status = ReadV2Request({body.data(), body.size(), header_length},
                                              RequestLimits(), &request, &buffers, &formats);
    if (!status.ok()) {
      state.SkipWithError(status.ToString().c_str());
      return;
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
}

void BM_ReadBinary(benchmark::State& state) {
  const int64_t count = state.range(0);
  Read(state, RequestJson(count, true), static_cast<size_t>(count) * sizeof(float));
}
BENCHMARK(BM_ReadBinary)->Arg(16)->Arg(1 << 20);

void BM_ReadJson(benchmark::State& state) { Read(state, RequestJson(state.range(0), false), 0); }
BENCHMARK(BM_ReadJson)->Arg(16)->Arg(1000)->Arg(100'000);

// A generate body of `count` values: by the reader of ReadGenerateRequest's choice (the fast one),
// and by the careful one, which reads what the fast one does not.
template <absl::Status (*read)(absl::string_view, const RequestLimits&, InferRequest*,
                               RequestBuffers*, NonFinite*)>
void BM_ReadGenerate(benchmark::State& state) {
  std::string json = R"({"id":"1","INPUT0":[0.37)";
  for (int64_t i = 1; i < state.range(0); ++i) {
    json += "," + std::to_string(static_cast<double>(i) * 0.37);
  }
  const PaddedBytes body(json + "]}");
  const auto model = MakeModelWithInputs({{"INPUT0", DataType::kFp32, {kVariableDim}}});
  RequestBuffers buffers;
  NonFinite non_finite = NonFinite::kLiteral;
  for (auto _ : state) {
    InferRequest request(model, -1);
    buffers.Clear();
    const absl::Status status = read(body.view(), RequestLimits(), &request, &buffers, &non_finite);
    if (!status.ok()) {
      state.SkipWithError(status.ToString().c_str());
      return;
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
}
BENCHMARK(BM_ReadGenerate<ReadGenerateRequest>)->Arg(16)->Arg(1000)->Arg(3'000'000);
BENCHMARK(BM_ReadGenerate<ReadGenerateCarefully>)->Arg(16)->Arg(1000)->Arg(3'000'000);

void BM_Write(benchmark::State& state) {
  const int64_t count = state.range(0);
  HeapOutputAllocator allocator{nullptr};
  InferResponse response(nullptr, MakeModel({DataType::kFp32}), "1", &allocator, nullptr);
  ResponseOutput* output = *response.AddOutput("OUTPUT0", DataType::kFp32, {count});
  if (!output->Allocate(static_cast<size_t>(count) * sizeof(float), MemoryPlace{}).ok()) {
    state.SkipWithError("no memory");
    return;
  }
  auto* values = static_cast<float*>(output->buffer().base);
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) * 0.37f;
  OutputFormats formats;
  formats.fallback.binary = state.range(1) == 1;
  for (auto _ : state) {
    auto body = WriteV2Response(response, formats);
    benchmark::DoNotOptimize(body);
  }
}
BENCHMARK(BM_Write)
    ->ArgNames({"values", "binary"})
    ->Args({16, 1})
    ->Args({16, 0})
    ->Args({100'000, 0});

}  // namespace
}  // namespace nereid
