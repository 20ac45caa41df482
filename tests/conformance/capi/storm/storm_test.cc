// SPDX-License-Identifier: Apache-2.0
// A mixed storm on one server through the C API, meant for ThreadSanitizer and AddressSanitizer:
// several threads send random requests to models of every kind, others cancel them, read statistics
// and metrics, and load and unload models; then the server stops while requests are in flight.
//
//   capi_storm_test [--seconds=S] [--seed=N] [--fail-allocations=N] [--fail-threads=N]
//                   [--fail-files=N] [--fail-core-allocations=N]
//
// One in N allocations of the sending threads or of the server's own threads, creations of threads
// by any thread, and openings and readings of files fails. Then a request may be answered with
// UNAVAILABLE, and a model may fail to load, but all other assertions still hold.
//
// Every thread has its own random generator, started from the seed; the interleaving of the threads
// is left to chance.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/conformance/capi/faults/faults.h"
#include "tests/conformance/capi/harness.h"
#include "tests/conformance/capi/storm/storm_call.h"
#include "tests/conformance/capi/storm/storm_models.h"

namespace nereid_test {
namespace {

double storm_seconds = 3;
uint64_t storm_seed = 1;
faults::Rates storm_faults;

constexpr int kSenders = 6;
constexpr size_t kInFlight = 24;  // per sender, without requests that delete themselves

// Requests that any thread may cancel. Thread-safe.
class Cancellable {
 public:
  void Add(const std::shared_ptr<StormCall>& call) {
    const std::lock_guard<std::mutex> lock(mu_);
    calls_[next_++ % calls_.size()] = call;
  }

  // Null if there is none.
  std::shared_ptr<StormCall> Take(size_t number) {
    const std::lock_guard<std::mutex> lock(mu_);
    return std::exchange(calls_[number % calls_.size()], {}).lock();
  }

 private:
  std::mutex mu_;
  size_t next_ = 0;
  std::array<std::weak_ptr<StormCall>, 64> calls_;
};

class Storm {
 public:
  Storm() : models_(AddStormModels(&repository_)) {
    Options options(repository_, TRITONSERVER_MODEL_CONTROL_EXPLICIT);
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetCacheDirectory(options.get(), NEREID_TEST_CACHES)));
    EXPECT_TRUE(Ok(
        TRITONSERVER_ServerOptionsSetCacheConfig(options.get(), "local", R"({"size": "2000"})")));
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetRateLimiterMode(
        options.get(), TRITONSERVER_RATE_LIMIT_EXEC_COUNT)));
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsAddRateLimiterResource(options.get(), "R", 3, -1)));
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogWarn(options.get(), false)));
    EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetLogError(options.get(), false)));
    for (const std::string& model : models_) {
      EXPECT_TRUE(Ok(TRITONSERVER_ServerOptionsSetStartupModel(options.get(), model.c_str())));
    }
    server_ = std::make_unique<TestServer>(options);
  }

  void Run();

 private:
  // Each of these runs in its own thread.
  void Send(uint64_t number);
  void CancelFromOutside();
  void Observe();
  void ChangeModels();
  // Checks and deletes the result of a load or unload.
  void Change(TRITONSERVER_Error* error);

  // Sends one request; false if it was not accepted.
  bool SendOne(StormRandom* random, std::vector<std::shared_ptr<StormCall>>* in_flight);
  void ObserveModel(const std::string& model);
  // Waits for a moment; false if the storm is over.
  bool Pause(std::chrono::microseconds length);

  Repository repository_;
  StormLedger ledger_;
  const std::vector<std::string> models_;
  std::unique_ptr<TestServer> server_;
  Cancellable cancellable_;

  std::mutex mu_;
  std::condition_variable ended_;
  bool over_ = false;
  // Number of requests sent, by model.
  std::map<std::string, int64_t> sent_;
  std::atomic<int64_t> observed_{0};
  std::atomic<int64_t> changes_{0};
};

bool Storm::Pause(std::chrono::microseconds length) {
  std::unique_lock<std::mutex> lock(mu_);
  return !ended_.wait_for(lock, length, [this] { return over_; });
}

bool Storm::SendOne(StormRandom* random, std::vector<std::shared_ptr<StormCall>>* in_flight) {
  const std::string& model =
      models_[static_cast<size_t>(Draw(random, 0, static_cast<int>(models_.size()) - 1))];
  const bool alone = Draw(random, 0, 2) == 0;
  const std::shared_ptr<StormCall> call = StormCall::New(
      server_->get(), RandomRequest(model, random),
      alone ? StormCall::Deletion::kByCallback : StormCall::Deletion::kByOwner, &ledger_);
  if (call == nullptr || !call->Issue()) return false;
  {
    const std::lock_guard<std::mutex> lock(mu_);
    ++sent_[model];
  }
  if (alone) return true;
  if (Draw(random, 0, 9) == 0) call->Cancel();
  if (Draw(random, 0, 4) == 0) cancellable_.Add(call);
  in_flight->push_back(call);
  return true;
}

void Storm::Send(uint64_t number) {
  StormRandom random(storm_seed * 1000 + number);
  std::vector<std::shared_ptr<StormCall>> in_flight;
  int refused_in_a_row = 0;
  // Continues while the server stops, until the server refuses all requests.
  while (refused_in_a_row < 200 || !ledger_.stopping) {
    refused_in_a_row = SendOne(&random, &in_flight) ? 0 : refused_in_a_row + 1;
    // Nothing else limits the number of requests that delete themselves.
    while (ledger_.issued - ledger_.finals > 400 && Pause(std::chrono::milliseconds(1))) {
    }
    if (in_flight.size() < kInFlight) continue;
    const auto any = static_cast<size_t>(Draw(&random, 0, kInFlight - 1));
    const std::shared_ptr<StormCall> call = std::exchange(in_flight[any], in_flight.back());
    in_flight.pop_back();
    call->Wait();
    if (Draw(&random, 0, 3) == 0 && call->Issue()) in_flight.push_back(call);
  }
  // Some requests are awaited, the others are dropped while they are in flight.
  while (in_flight.size() > kInFlight / 2) {
    in_flight.back()->Wait();
    in_flight.pop_back();
  }
}

void Storm::CancelFromOutside() {
  StormRandom random(storm_seed * 1000 + 900);
  while (Pause(std::chrono::microseconds(200))) {
    const std::shared_ptr<StormCall> call =
        cancellable_.Take(static_cast<size_t>(Draw(&random, 0, 63)));
    if (call != nullptr) call->Cancel();
  }
}

void Storm::ObserveModel(const std::string& model) {
  TRITONSERVER_Message* message = nullptr;
  bool ready = false;
  if (model == kChangingModel) {
    // The result depends on the moment.
    TRITONSERVER_ErrorDelete(
        TRITONSERVER_ServerModelStatistics(server_->get(), model.c_str(), -1, &message));
    if (message != nullptr) TakeJson(message);
    TRITONSERVER_ErrorDelete(
        TRITONSERVER_ServerModelIsReady(server_->get(), model.c_str(), -1, &ready));
    return;
  }
  EXPECT_NE(server_->Statistics(model).find("\"inference_count\""), std::string::npos);
  EXPECT_TRUE(Ok(TRITONSERVER_ServerModelIsReady(server_->get(), model.c_str(), -1, &ready)));
  EXPECT_TRUE(ready) << model;
  EXPECT_TRUE(Ok(TRITONSERVER_ServerModelMetadata(server_->get(), model.c_str(), -1, &message)));
  TakeJson(message);
  EXPECT_TRUE(Ok(TRITONSERVER_ServerModelConfig(server_->get(), model.c_str(), -1, 1, &message)));
  TakeJson(message);
}

void Storm::Observe() {
  size_t number = 0;
  while (Pause(std::chrono::microseconds(500))) {
    ObserveModel(models_[++number % models_.size()]);
    server_->Statistics("");
    server_->Index();
    TRITONSERVER_Metrics* metrics = nullptr;
    EXPECT_TRUE(Ok(TRITONSERVER_ServerMetrics(server_->get(), &metrics)));
    const char* text = nullptr;
    size_t size = 0;
    EXPECT_TRUE(
        Ok(TRITONSERVER_MetricsFormatted(metrics, TRITONSERVER_METRIC_PROMETHEUS, &text, &size)));
    EXPECT_NE(std::string(text, size).find("nv_inference_count{model=\"plain\""),
              std::string::npos);
    EXPECT_TRUE(Ok(TRITONSERVER_MetricsDelete(metrics)));
    ++observed_;
  }
}

void Storm::Change(TRITONSERVER_Error* error) {
  if (ledger_.faults) {
    TRITONSERVER_ErrorDelete(error);
  } else {
    EXPECT_TRUE(Ok(error));
  }
}

void Storm::ChangeModels() {
  TRITONSERVER_Server* const server = server_->get();
  for (int round = 0; Pause(std::chrono::milliseconds(5)); ++round) {
    Change(TRITONSERVER_ServerUnloadModel(server, kChangingModel));
    // Usually loads the model while it is still being unloaded, and sometimes again while it is
    // loaded.
    for (int loads = round % 3 == 0 ? 2 : 1; loads > 0; --loads) {
      // Without a changed file, the second load would have nothing to do.
      repository_.AddFile(std::string(kChangingModel) + "/1/weights",
                          std::to_string(2 * round + loads));
      Change(TRITONSERVER_ServerLoadModel(server, kChangingModel));
    }
    TRITONSERVER_Error* const error = TRITONSERVER_ServerLoadModel(server, kBrokenModel);
    EXPECT_NE(error, nullptr);
    TRITONSERVER_ErrorDelete(error);
    ++changes_;
  }
}

void Storm::Run() {
  std::vector<std::thread> senders, others;
  ledger_.faults = storm_faults.allocations + storm_faults.core_allocations + storm_faults.threads +
                       storm_faults.files >
                   0;
  const auto start = [](std::vector<std::thread>* threads, const std::function<void()>& work) {
    threads->emplace_back([work] {
      const faults::Pause own;
      work();
    });
  };
  for (uint64_t i = 0; i < kSenders; ++i) start(&senders, [this, i] { Send(i); });
  start(&others, [this] { CancelFromOutside(); });
  start(&others, [this] { Observe(); });
  start(&others, [this] { ChangeModels(); });
  if (ledger_.faults) faults::StartRandom(storm_seed, storm_faults);
  {
    std::unique_lock<std::mutex> lock(mu_);
    // Nothing ends the storm earlier, so this wait is its duration.
    ended_.wait_for(lock, std::chrono::duration<double>(storm_seconds), [this] { return over_; });
    over_ = true;
  }
  ended_.notify_all();
  for (std::thread& thread : others) thread.join();
  // The senders continue while the server stops.
  ledger_.stopping = true;
  EXPECT_TRUE(Ok(TRITONSERVER_ServerStop(server_->get())));
  for (std::thread& thread : senders) thread.join();
  faults::StopRandom();
  ledger_.WaitForAll();
  EXPECT_EQ(ledger_.released, ledger_.issued);
  EXPECT_EQ(ledger_.finals, ledger_.issued);
  EXPECT_EQ(ledger_.buffers, 0);
  server_->Delete();

  // The storm has had the intended effects.
  const int64_t cancelled = ledger_.errors[TRITONSERVER_ERROR_CANCELLED];
  std::printf(
      "seed %llu: %lld requests, %lld right, %lld cancelled, %lld unavailable, "
      "%lld invalid, %lld refused; %lld observations, %lld changes of models\n",
      static_cast<unsigned long long>(storm_seed), static_cast<long long>(ledger_.issued),
      static_cast<long long>(ledger_.right), static_cast<long long>(cancelled),
      static_cast<long long>(ledger_.errors[TRITONSERVER_ERROR_UNAVAILABLE]),
      static_cast<long long>(ledger_.errors[TRITONSERVER_ERROR_INVALID_ARG]),
      static_cast<long long>(ledger_.refused), static_cast<long long>(observed_),
      static_cast<long long>(changes_));
  if (ledger_.faults) {
    std::printf("%llu faults, %lld calls failed for want of something\n",
                static_cast<unsigned long long>(faults::failed()),
                static_cast<long long>(ledger_.wanting));
    EXPECT_GT(faults::failed(), 0u);
  }
  EXPECT_GT(ledger_.right, 100);
  EXPECT_GT(cancelled, 0);
  EXPECT_GT(ledger_.errors[TRITONSERVER_ERROR_UNAVAILABLE], 0);
  EXPECT_GT(ledger_.errors[TRITONSERVER_ERROR_INVALID_ARG], 0);
  EXPECT_GT(observed_, 0);
  EXPECT_GT(changes_, 0);
  for (const std::string& model : models_) EXPECT_GT(sent_[model], 0) << model;
}

TEST(CApiStorm, EveryRequestIsReleasedOnceAndAnsweredOnce) {
  Storm storm;
  storm.Run();
}

}  // namespace
}  // namespace nereid_test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    char* end = nullptr;
    if (word.rfind("--seconds=", 0) == 0) {
      nereid_test::storm_seconds = std::strtod(word.c_str() + 10, &end);
    } else if (word.rfind("--seed=", 0) == 0) {
      nereid_test::storm_seed = std::strtoull(word.c_str() + 7, &end, 10);
    }
    const auto rate = [&](const char* flag, uint32_t* value) {
      if (word.rfind(flag, 0) != 0) return;
      *value =
          static_cast<uint32_t>(std::strtoul(argv[i] + std::string_view(flag).size(), &end, 10));
    };
    rate("--fail-allocations=", &nereid_test::storm_faults.allocations);
    rate("--fail-core-allocations=", &nereid_test::storm_faults.core_allocations);
    rate("--fail-threads=", &nereid_test::storm_faults.threads);
    rate("--fail-files=", &nereid_test::storm_faults.files);
    if (end == nullptr || *end != '\0') {
      std::fprintf(stderr,
                   "usage: %s [--seconds=S] [--seed=N] [--fail-allocations=N] [--fail-threads=N] "
                   "[--fail-files=N] [--fail-core-allocations=N]\n",
                   argv[0]);
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
