// SPDX-License-Identifier: Apache-2.0
// What the record of a request costs: BM_RecordFlight with as many threads as write to one ring.
#include <benchmark/benchmark.h>

#include "observe/record/flight_recorder.h"

namespace nereid {
namespace {

constexpr size_t kEvents = 2048;

void BM_RecordFlight(benchmark::State& state) {
  static FlightRecorder recorder(2, kEvents);
  FlightRecord record;
  record.id.Set("request-0123456789");
  record.instance = 1;
  for (auto _ : state) {
    ++record.sent;
    recorder.Record(record);
  }
  if (recorder.Flights(0, 1).empty()) state.SkipWithError("nothing was recorded");
}
BENCHMARK(BM_RecordFlight)->Threads(1)->Threads(2);

void BM_RecordBatch(benchmark::State& state) {
  static FlightRecorder recorder(2, kEvents);
  BatchRecord record;
  record.instance = 1;
  for (auto _ : state) {
    record.number = recorder.NextBatch(1);
    record.exec_end = record.number;
    recorder.Record(record);
  }
}
BENCHMARK(BM_RecordBatch);

void BM_ReadAll(benchmark::State& state) {
  FlightRecorder recorder(2, kEvents);
  FlightRecord record;
  record.instance = 1;
  for (size_t i = 0; i < kEvents; ++i) {
    ++record.sent;
    recorder.Record(record);
  }
  for (auto _ : state) benchmark::DoNotOptimize(recorder.Flights(0, 1000));
}
BENCHMARK(BM_ReadAll);

}  // namespace
}  // namespace nereid
