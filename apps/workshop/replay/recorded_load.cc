// SPDX-License-Identifier: Apache-2.0
#include "replay/recorded_load.h"

#include <absl/strings/str_cat.h>

#include <fstream>

#include "frontends/codec/recording.h"
#include "replay/live_replay.h"
#include "replay/virtual_replay.h"

namespace nereid {

absl::StatusOr<std::vector<bench::PlannedRequest>> ReadRecordedLoad(const std::string& file,
                                                                    const std::string& model,
                                                                    bool with_inputs) {
  const auto wrong = [&file](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("--recording=", file, ": ", why));
  };
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return wrong("it cannot be read");
  const absl::StatusOr<Recording> recording = ReadRecording(stream, with_inputs);
  if (!recording.ok()) return wrong(recording.status().message());
  const auto chosen = ChooseRecorded(*recording, model);
  if (!chosen.ok()) return wrong(chosen.status().message());
  auto planned = PlanOf(**chosen, 1);
  if (!planned.ok()) return wrong(planned.status().message());
  return planned;
}

std::vector<SimulatedRequest> SimulatedLoad(const std::vector<bench::PlannedRequest>& planned) {
  std::vector<SimulatedRequest> load;
  for (const bench::PlannedRequest& request : planned) {
    SimulatedRequest& simulated = load.emplace_back();
    simulated.arrival_ns = static_cast<uint64_t>(request.due.count()) + 1;
    simulated.batch_size = static_cast<uint32_t>(request.batch_size);
    simulated.priority = request.parameters.priority;
    simulated.timeout_us = request.parameters.timeout_us;
  }
  return load;
}

}  // namespace nereid
