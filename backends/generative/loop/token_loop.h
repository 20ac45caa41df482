// SPDX-License-Identifier: Apache-2.0
// TokenLoop: a thread that generates for all requests of an instance together: it plans a step,
// lets the network compute it, chooses tokens and sends them, until no request is left.
//
// A request with several choices has one sequence until its prompt is computed. The others begin
// with a token from the same logits, and find the blocks of the prompt.
//
// An error of the network ends the requests of that step, and the others go on. A request that
// is cancelled, or whose time-out has passed, ends before the next step. Thread-safe.
#ifndef NEREID_BACKENDS_GENERATIVE_LOOP_TOKEN_LOOP_H_
#define NEREID_BACKENDS_GENERATIVE_LOOP_TOKEN_LOOP_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "backends/generative/loop/answer.h"
#include "backends/generative/loop/generation.h"
#include "backends/generative/loop/loop_meter.h"
#include "backends/generative/network/step_network.h"
#include "backends/generative/scheduler/token_scheduler.h"
#include "backends/generative/text/sampler.h"
#include "backends/sdk/batch.h"

namespace nereid_backend {

class TokenLoop {
 public:
  // `end_tokens` end a sequence, unless a request ignores them. `meter` may be null.
  TokenLoop(std::unique_ptr<StepNetwork> network, const TokenScheduler::Limits& limits,
            std::vector<Token> end_tokens, std::unique_ptr<LoopMeter> meter = nullptr,
            Batch::Clock now = &NowNs);
  // Waits until all requests have been answered.
  ~TokenLoop();
  TokenLoop(const TokenLoop&) = delete;
  TokenLoop& operator=(const TokenLoop&) = delete;

  // Refuses by the answer what never fits, and what comes while too many wait.
  void Add(Generation generation, std::unique_ptr<Answer> answer);

 private:
  struct Arrival {
    Generation generation;
    std::shared_ptr<Answer> answer;
    uint64_t since;  // when it came
  };
  // A request that generates.
  struct Request {
    std::shared_ptr<Answer> answer;
    Generation wanted;  // without the prompt
    uint64_t seed = 0;  // of the first choice; each other one has the next
    std::vector<Token> ends;
    uint64_t since = 0;
    std::vector<uint64_t> sequences;  // that began
  };
  struct Sequence {
    std::shared_ptr<Request> request;
    size_t choice = 0;
    Sampler sampler;
    int64_t generated = 0;
    uint64_t since = 0;  // its last token, or its arrival
  };

  void Run();
  // Waits for something to do, and takes what has arrived. False: nothing is left, and nothing will
  // come.
  bool Await(std::vector<Arrival>* arrived);
  Error RunStep(Step* step);
  void Admit(Arrival arrival);
  // Makes the sequence of a choice, which the scheduler does not know yet.
  uint64_t Begin(const std::shared_ptr<Request>& request, size_t choice,
                 std::span<const Token> prompt);
  // The order for the scheduler.
  SequenceSpec SpecOf(const Request& request, uint64_t id, std::vector<Token> tokens) const;
  Error EndCancelled();
  void EndExpired(const std::vector<uint64_t>& expired);
  // A sequence that has got a token in this step; `reason`: that was its last one.
  struct Chosen {
    uint64_t id;
    Token token;
    std::optional<FinishReason> reason;
  };
  // Chooses the next token of a sequence, and of all choices if that is the first of the request.
  Error Choose(uint64_t id, std::span<const float> logits, std::vector<Chosen>* chosen);
  Error BeginOthers(uint64_t first, std::span<const float> logits, std::vector<Chosen>* chosen);
  Result<Chosen> ChooseToken(uint64_t id, std::span<const float> logits);
  // Sends what there is of a sequence, and ends it if that was the last.
  Error Deliver(const Chosen& chosen);
  // Tells the meter of a token, and of a step.
  void Measure(Sequence* sequence);
  void MeasureStep();
  // Ends a sequence, and the others of its request with it.
  void Fail(uint64_t id, const Error& error);
  // Ends the sequences of a step that failed; all, if it has none.
  void FailStep(const Step& step, const Error& error);

  const std::unique_ptr<StepNetwork> network_;
  const TokenScheduler::Limits limits_;
  const std::vector<Token> end_tokens_;
  const std::unique_ptr<LoopMeter> meter_;
  const Batch::Clock now_;

  // Of the thread.
  TokenScheduler scheduler_;
  std::map<uint64_t, Sequence> sequences_;
  uint64_t next_id_ = 0;
  uint64_t generated_ = 0;  // tokens

  std::mutex mu_;
  std::condition_variable changed_;
  std::vector<Arrival> arrived_;  // guarded by mu_
  bool stopping_ = false;         // guarded by mu_
  std::thread thread_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_LOOP_TOKEN_LOOP_H_
