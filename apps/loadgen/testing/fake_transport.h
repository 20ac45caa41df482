// SPDX-License-Identifier: Apache-2.0
// A transport without a server, for tests.
#ifndef NEREID_APPS_LOADGEN_TESTING_FAKE_TRANSPORT_H_
#define NEREID_APPS_LOADGEN_TESTING_FAKE_TRANSPORT_H_

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "apps/loadgen/transport.h"

namespace nereid::bench {

// Answers at once except for one pause, like a server that stalls.
class FakeTransport final : public Transport {
 public:
  explicit FakeTransport(int slots) : slots_(slots) {}

  int slots() const override { return slots_; }
  absl::Status Send(int slot) override {
    ++sent;
    if (on_send) on_send();
    waiting_.push_back(slot);
    return absl::OkStatus();
  }
  absl::Status Poll(BenchTime until, std::vector<Completion>* done) override {
    if (pause_at > 0 && sent >= pause_at) {
      const BenchTime resume = BenchClock::now() + pause;
      while (BenchClock::now() < resume) {
      }
      pause_at = 0;
    }
    for (const int slot : waiting_) done->push_back({slot, ok});
    waiting_.clear();
    while (done->empty() && BenchClock::now() < until) {
    }
    return absl::OkStatus();
  }
  std::string error(int) const override { return "no"; }
  bool EndSequence(int slot) override { return open_sequences.erase(slot) > 0; }
  void KeepAnswers(bool keep) override { keeps = keep; }
  absl::string_view answer(int) const override {
    return absl::string_view(reinterpret_cast<const char*>(&value), sizeof value);
  }

  std::function<void()> on_send;
  std::set<int> open_sequences;
  bool ok = true;
  bool keeps = false;
  float value = 4.5f;
  int sent = 0;
  int pause_at = 0;
  std::chrono::milliseconds pause{0};

 private:
  const int slots_;
  std::vector<int> waiting_;
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_TESTING_FAKE_TRANSPORT_H_
