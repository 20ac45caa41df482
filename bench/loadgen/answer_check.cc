// SPDX-License-Identifier: Apache-2.0
#include "bench/loadgen/answer_check.h"

#include <chrono>
#include <string>
#include <vector>

#include "base/status_macros.h"

namespace nereid::bench {
namespace {

// The time limit for one answer.
constexpr std::chrono::seconds kPatience{10};

absl::Status OneRoundTrip(Transport* transport, int slot) {
  RETURN_IF_ERROR(transport->Send(slot));
  const BenchTime deadline = BenchClock::now() + kPatience;
  std::vector<Transport::Completion> done;
  while (done.empty()) {
    if (BenchClock::now() > deadline) return absl::DeadlineExceededError("no answer");
    RETURN_IF_ERROR(transport->Poll(deadline, &done));
  }
  if (done[0].ok) return absl::OkStatus();
  return absl::FailedPreconditionError("the server answered with an error");
}

absl::Status CheckInFile(Transport* transport, int slot, const Reference& reference,
                         const AnswerFile& file) {
  RETURN_IF_ERROR(file.Clear());
  RETURN_IF_ERROR(OneRoundTrip(transport, slot));
  ASSIGN_OR_RETURN(const std::string bytes, file.Read());
  return reference.Check(bytes, AnswerForm::kBinary);
}

}  // namespace

absl::Status CheckAnswers(Transport* transport, const Reference& reference, AnswerForm form,
                          int rounds, const AnswerFile& file) {
  transport->KeepAnswers(true);
  for (int round = 0; round < rounds; ++round) {
    for (int slot = 0; slot < transport->slots(); ++slot) {
      if (file.used()) {
        RETURN_IF_ERROR(CheckInFile(transport, slot, reference, file));
        continue;
      }
      RETURN_IF_ERROR(OneRoundTrip(transport, slot));
      RETURN_IF_ERROR(reference.Check(transport->answer(slot), form));
    }
  }
  transport->KeepAnswers(false);
  return absl::OkStatus();
}

}  // namespace nereid::bench
