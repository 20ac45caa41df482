// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/loop/token_loop.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "backends/sdk/boundary.h"
#include "backends/sdk/send_together.h"

namespace nereid_backend {
namespace {

uint64_t AnySeed() {
  std::random_device random;
  return (uint64_t{random()} << 32) | random();
}

TokenTime TimeOf(uint64_t ns) {
  return TokenTime(std::chrono::nanoseconds(static_cast<int64_t>(ns)));
}

// The tokens for which there is memory.
int64_t Capacity(const TokenScheduler::Limits& limits) {
  return int64_t{limits.blocks} * limits.block_size;
}

Error NeverFits(const TokenScheduler::Limits& limits, size_t prompt, int64_t max_tokens) {
  return Error::InvalidArg(StrCat("the prompt of ", prompt, " tokens and ", max_tokens,
                                  " new ones never fit into the ", Capacity(limits),
                                  " tokens for which there is memory (parameter "
                                  "'kv_cache_bytes')"));
}

Error TooManyWait(const TokenScheduler::Limits& limits) {
  return Error(TRITONSERVER_ERROR_UNAVAILABLE,
               StrCat("the model generates as much as it can, and ", limits.max_waiting,
                      " requests wait already (parameter 'max_waiting')"));
}

}  // namespace

TokenLoop::TokenLoop(std::unique_ptr<StepNetwork> network, const TokenScheduler::Limits& limits,
                     std::vector<Token> end_tokens, std::unique_ptr<LoopMeter> meter,
                     Batch::Clock now)
    : network_(std::move(network)),
      limits_(limits),
      end_tokens_(std::move(end_tokens)),
      meter_(std::move(meter)),
      now_(now),
      scheduler_(limits),
      thread_([this] { Run(); }) {}

TokenLoop::~TokenLoop() {
  {
    const std::lock_guard lock(mu_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void TokenLoop::Add(Generation generation, std::unique_ptr<Answer> answer) {
  const uint64_t since = now_();
  // A prompt lies in memory of the model's own until its first step, so what waits is bounded here.
  const size_t prompt = generation.prompt.size();
  if (static_cast<int64_t>(prompt) > Capacity(limits_)) {
    return answer->Fail(NeverFits(limits_, prompt, generation.max_tokens));
  }
  bool taken;
  {
    const std::lock_guard lock(mu_);
    taken = arrived_.size() < limits_.max_waiting;
    if (taken) arrived_.push_back({std::move(generation), std::move(answer), since});
  }
  if (!taken) return answer->Fail(TooManyWait(limits_));
  changed_.notify_one();
}

bool TokenLoop::Await(std::vector<Arrival>* arrived) {
  arrived->clear();
  std::unique_lock lock(mu_);
  if (sequences_.empty()) {
    changed_.wait(lock, [this] { return stopping_ || !arrived_.empty(); });
  }
  std::swap(*arrived, arrived_);
  return !arrived->empty() || !sequences_.empty();
}

void TokenLoop::Run() {
  std::vector<Arrival> arrived;
  MeasureStep();
  while (Await(&arrived)) {
    for (Arrival& one : arrived) Admit(std::move(one));
    Step step;
    const Error error = Guarded("step", [&] { return RunStep(&step); });
    if (!error.ok()) FailStep(step, error);
    MeasureStep();
  }
}

uint64_t TokenLoop::Begin(const std::shared_ptr<Request>& request, size_t choice,
                          std::span<const Token> prompt) {
  const uint64_t id = next_id_++;
  request->sequences.push_back(id);
  sequences_.emplace(
      id, Sequence{.request = request,
                   .choice = choice,
                   .sampler = Sampler(request->wanted.sampling, request->seed + choice, prompt),
                   .since = request->since});
  return id;
}

SequenceSpec TokenLoop::SpecOf(const Request& request, uint64_t id,
                               std::vector<Token> tokens) const {
  const Generation& wanted = request.wanted;
  return {.id = id,
          .prompt = std::move(tokens),
          .max_new_tokens = wanted.max_tokens,
          .priority = wanted.priority,
          .tenant = wanted.tenant,
          .deadline = wanted.timeout_ns == 0 ? TokenTime::max()
                                             : TimeOf(request.since + wanted.timeout_ns)};
}

void TokenLoop::Admit(Arrival arrival) {
  const std::shared_ptr<Answer> answer = std::move(arrival.answer);
  const uint64_t id = next_id_;
  const Error error = Guarded("admission", [&]() -> Error {
    std::vector<Token> prompt = std::move(arrival.generation.prompt);
    const auto request = std::make_shared<Request>();
    request->answer = answer;
    request->wanted = std::move(arrival.generation);
    const Generation& wanted = request->wanted;
    request->seed = wanted.seed ? *wanted.seed : AnySeed();
    request->ends = wanted.stop_tokens;
    if (!wanted.ignore_end) {
      request->ends.insert(request->ends.end(), end_tokens_.begin(), end_tokens_.end());
    }
    request->since = arrival.since;
    Begin(request, 0, prompt);
    const size_t size = prompt.size();
    switch (scheduler_.Add(SpecOf(*request, id, std::move(prompt)))) {
      case TokenScheduler::Admission::kTaken:
        return Error();
      case TokenScheduler::Admission::kNeverFits:
        return NeverFits(limits_, size, wanted.max_tokens);
      case TokenScheduler::Admission::kTooManyWait:
        return TooManyWait(limits_);
    }
    return Error::Internal("the request was neither taken nor refused");
  });
  if (error.ok()) return;
  scheduler_.End(id);
  sequences_.erase(id);
  answer->Fail(error);
}

Error TokenLoop::EndCancelled() {
  std::vector<uint64_t> cancelled;
  for (const auto& [id, sequence] : sequences_) {
    if (sequence.request->answer->IsCancelled()) cancelled.push_back(id);
  }
  const Error error(TRITONSERVER_ERROR_CANCELLED, "the request was cancelled");
  for (const uint64_t id : cancelled) Fail(id, error);
  return Error();
}

void TokenLoop::EndExpired(const std::vector<uint64_t>& expired) {
  for (const uint64_t id : expired) {
    const auto found = sequences_.find(id);
    if (found == sequences_.end()) continue;  // another choice of its request has expired
    const uint64_t timeout_us = found->second.request->wanted.timeout_ns / 1000;
    Fail(id, Error(TRITONSERVER_ERROR_UNAVAILABLE,
                   StrCat("the request was not complete within its timeout of ", timeout_us,
                          " microseconds")));
  }
}

Error TokenLoop::RunStep(Step* step) {
  NB_RETURN_IF_ERROR(EndCancelled());
  *step = scheduler_.Plan(TimeOf(now_()));
  EndExpired(step->expired);
  if (step->parts.empty()) return Error();
  NB_RETURN_IF_ERROR(network_->Compute(*step));
  scheduler_.SetComputed(*step);
  std::vector<uint64_t> last;
  for (const StepPart& part : step->parts) {
    if (part.is_last) last.push_back(part.id);
  }
  std::vector<Chosen> chosen;
  for (size_t i = 0; i < last.size(); ++i) {
    const Error error =
        Guarded("choice of a token", [&] { return Choose(last[i], network_->Logits(i), &chosen); });
    if (!error.ok()) Fail(last[i], error);
  }
  SendTogether([&] {
    for (const Chosen& one : chosen) {
      const Error error = Guarded("sending of tokens", [&] { return Deliver(one); });
      if (!error.ok()) Fail(one.id, error);
    }
  });
  return Error();
}

Error TokenLoop::Choose(uint64_t id, std::span<const float> logits, std::vector<Chosen>* chosen) {
  const Sequence& sequence = sequences_.at(id);
  if (sequence.choice == 0 && sequence.generated == 0) {
    NB_RETURN_IF_ERROR(BeginOthers(id, logits, chosen));
  }
  NB_ASSIGN_OR_RETURN(const Chosen next, ChooseToken(id, logits));
  if (!next.reason.has_value()) scheduler_.Append(id, next.token);
  chosen->push_back(next);
  return Error();
}

Error TokenLoop::BeginOthers(uint64_t first, std::span<const float> logits,
                             std::vector<Chosen>* chosen) {
  const std::shared_ptr<Request> request = sequences_.at(first).request;
  const std::span<const Token> prompt = scheduler_.TokensOf(first);
  for (int64_t choice = 1; choice < request->wanted.choices; ++choice) {
    const uint64_t id = Begin(request, static_cast<size_t>(choice), prompt);
    NB_ASSIGN_OR_RETURN(const Chosen next, ChooseToken(id, logits));
    chosen->push_back(next);
    if (next.reason.has_value()) continue;
    std::vector<Token> tokens(prompt.begin(), prompt.end());
    tokens.push_back(next.token);
    SequenceSpec spec = SpecOf(*request, id, std::move(tokens));
    --spec.max_new_tokens;
    spec.counted = false;
    const auto admission = scheduler_.Add(std::move(spec));
    // It needs no more than the first one, which was taken.
    if (admission != TokenScheduler::Admission::kTaken) {
      return Error::Internal("a further choice of a request was not taken");
    }
  }
  return Error();
}

Result<TokenLoop::Chosen> TokenLoop::ChooseToken(uint64_t id, std::span<const float> logits) {
  Sequence& sequence = sequences_.at(id);
  const Request& request = *sequence.request;
  Answer& answer = *request.answer;
  const bool may_end = sequence.generated >= request.wanted.min_tokens;
  const std::optional<Token> token = sequence.sampler.Sample(
      logits, may_end ? std::span<const Token>() : std::span<const Token>(request.ends));
  if (!token.has_value()) return Error::Internal("the network's logits are not numbers");
  ++sequence.generated;
  Measure(&sequence);
  std::vector<TokenLogprob> logprobs;
  if (const auto top = request.wanted.logprobs) {
    logprobs = LogprobsOf(logits, *token, static_cast<size_t>(*top));
  }
  bool ends = std::find(request.ends.begin(), request.ends.end(), *token) != request.ends.end();
  if (ends) {
    answer.AddEnd(sequence.choice, *token, logprobs);
  } else {
    ends = answer.Add(sequence.choice, *token, logprobs);
  }
  std::optional<FinishReason> reason;
  if (ends) {
    reason = FinishReason::kStop;
  } else if (sequence.generated == request.wanted.max_tokens) {
    reason = FinishReason::kLength;
  }
  return Chosen{id, *token, reason};
}

Error TokenLoop::Deliver(const Chosen& chosen) {
  const auto found = sequences_.find(chosen.id);
  if (found == sequences_.end()) return Error();  // its request has failed
  Answer& answer = *found->second.request->answer;
  if (!chosen.reason.has_value()) return answer.Send();
  NB_RETURN_IF_ERROR(answer.Finish(found->second.choice, *chosen.reason));
  scheduler_.End(chosen.id);
  sequences_.erase(found);
  return Error();
}

void TokenLoop::Measure(Sequence* sequence) {
  ++generated_;
  if (meter_ == nullptr) return;
  const uint64_t now = now_();
  const double seconds = static_cast<double>(now - std::exchange(sequence->since, now)) * 1e-9;
  if (sequence->generated == 1) {
    meter_->OnFirstToken(seconds);
  } else {
    meter_->OnNextToken(seconds);
  }
}

void TokenLoop::MeasureStep() {
  if (meter_ == nullptr) return;
  const TokenScheduler::Counts& counts = scheduler_.counts();
  const BlockPool& pool = scheduler_.pool();
  meter_->OnStep({.prompt_tokens = counts.prompt_tokens,
                  .cached_tokens = counts.cached_tokens,
                  .generated_tokens = generated_,
                  .preemptions = counts.preemptions,
                  .running = scheduler_.running(),
                  .waiting = scheduler_.waiting(),
                  .used_blocks = pool.size() - pool.available(),
                  .blocks = pool.size()});
}

void TokenLoop::Fail(uint64_t id, const Error& error) {
  const auto found = sequences_.find(id);
  if (found == sequences_.end()) return;
  const std::shared_ptr<Request> request = found->second.request;
  request->answer->Fail(error);
  for (const uint64_t one : request->sequences) {
    scheduler_.End(one);
    sequences_.erase(one);
  }
}

void TokenLoop::FailStep(const Step& step, const Error& error) {
  std::vector<uint64_t> failed;
  for (const StepPart& part : step.parts) failed.push_back(part.id);
  if (failed.empty()) {
    for (const auto& [id, sequence] : sequences_) failed.push_back(id);
  }
  for (const uint64_t id : failed) Fail(id, error);
}

}  // namespace nereid_backend
