// SPDX-License-Identifier: Apache-2.0
// TokenScheduler: which tokens of which sequences a generative network computes in its next step.
//
// A sequence is a prompt that grows by a token per step. It waits until there are blocks
// (block_pool.h) for all its tokens, and runs until End. A step takes the next token of all running
// sequences first and is filled up with pieces of prompts, up to a number of tokens, so that a long
// prompt delays the others only by the length of a step. If the blocks do not suffice, the least
// important sequence gives its blocks back, waits, and computes its tokens again later.
//
// More important comes first: lower priority, then earlier arrival. Among the waiting sequences of
// a priority those that had to give blocks back come first, then those of the tenant that got the
// fewest tokens.
//
// Knows neither the network nor the time. Thread-compatible.
#ifndef NEREID_BACKENDS_GENERATIVE_SCHEDULER_TOKEN_SCHEDULER_H_
#define NEREID_BACKENDS_GENERATIVE_SCHEDULER_TOKEN_SCHEDULER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/generative/scheduler/block_pool.h"

namespace nereid_backend {

using TokenTime = std::chrono::steady_clock::time_point;

struct SequenceSpec {
  uint64_t id = 0;
  std::vector<Token> prompt;   // one token or more
  int64_t max_new_tokens = 1;  // at least 1
  int64_t priority = 0;        // lower comes first
  std::string tenant;
  TokenTime deadline = TokenTime::max();
  bool counted = true;  // among those that wait; false: it belongs to a request that was taken
};

// What a step computes of one sequence.
struct StepPart {
  uint64_t id = 0;
  std::span<const Token> tokens;
  int64_t past = 0;                 // tokens before them, which are in the blocks
  std::span<const int32_t> blocks;  // in which these and those are, or will be
  bool is_last = false;             // the next token of the sequence follows from the last of these
};

struct Step {
  std::vector<StepPart> parts;    // until the scheduler changes
  std::vector<uint64_t> expired;  // sequences that ended because their deadline has passed
};

class TokenScheduler {
 public:
  struct Limits {
    int32_t blocks = 0;
    int32_t block_size = 1;
    int64_t max_step_tokens = 1;
    size_t max_sequences = 1;  // that run; at most max_step_tokens
    size_t max_waiting = 0;
    bool prefix_cache = true;
  };
  enum class Admission {
    kTaken,
    kNeverFits,    // prompt and new tokens need more blocks than there are
    kTooManyWait,  // for now
  };
  struct Counts {
    uint64_t preemptions = 0;
    uint64_t prompt_tokens = 0;  // of sequences that began to run, or began again
    uint64_t cached_tokens = 0;  // those among them whose blocks were found
  };

  explicit TokenScheduler(const Limits& limits);
  TokenScheduler(const TokenScheduler&) = delete;
  TokenScheduler& operator=(const TokenScheduler&) = delete;

  // REQUIRES: no sequence has that id.
  Admission Add(SequenceSpec spec);
  // The next step. Without sequences, or if none can run, it has no parts.
  Step Plan(TokenTime now);
  // The network has computed `step`, the last one planned. Sequences may have ended meanwhile.
  void SetComputed(const Step& step);
  // The token that follows. REQUIRES: the sequence was in the last step with is_last.
  void Append(uint64_t id, Token token);
  // The sequence needs nothing more. Does nothing for one that is unknown or has ended.
  void End(uint64_t id);

  // Prompt and what was appended. REQUIRES: the sequence exists.
  std::span<const Token> TokensOf(uint64_t id) const;
  size_t running() const { return running_.size(); }
  size_t waiting() const { return waiting_.size(); }
  const BlockPool& pool() const { return pool_; }
  const Counts& counts() const { return counts_; }

 private:
  struct Tenant {
    uint64_t served = 0;  // tokens
    size_t sequences = 0;
  };
  struct Sequence {
    uint64_t id = 0;
    std::vector<Token> tokens;
    int64_t priority = 0;
    uint64_t arrival = 0;
    Tenant* tenant = nullptr;
    std::string tenant_name;
    TokenTime deadline;
    bool preempted = false;       // waits once more
    std::vector<int32_t> blocks;  // of a running one
    size_t computed = 0;          // tokens that are in the blocks
    size_t kept = 0;              // blocks of which the pool knows what they hold
    size_t planned = 0;           // tokens in the step being planned

    size_t pending() const { return tokens.size() - computed; }
  };
  using Sequences = std::vector<Sequence*>;

  size_t BlocksFor(size_t tokens) const;
  static bool ComesBefore(const Sequence& a, const Sequence& b);
  // Which of two waiting sequences runs first.
  static bool WaitsBefore(const Sequence& a, const Sequence& b);
  Tenant* JoinTenant(const std::string& name);
  void LeaveTenant(const Sequence& sequence);

  void Expire(TokenTime now, std::vector<uint64_t>* expired);
  // Plans parts of running sequences that compute their next token, or (not `next_tokens`) prompts.
  void PlanRunning(bool next_tokens);
  void PlanWaiting();
  void PlanPart(Sequence* sequence);
  // Gets blocks for `tokens` tokens of a running sequence. False: it was itself the least important
  // one and waits now.
  bool Grow(Sequence* sequence, size_t tokens);
  // Gives a waiting sequence blocks for all its tokens. False if there are too few.
  bool Start(Sequence* sequence);
  void Preempt(Sequence* sequence);
  void ReleaseBlocks(Sequence* sequence);

  const Limits limits_;
  BlockPool pool_;
  std::unordered_map<uint64_t, std::unique_ptr<Sequence>> sequences_;
  Sequences running_;  // most important first
  Sequences waiting_;
  std::map<std::string, Tenant> tenants_;  // that have sequences
  uint64_t arrivals_ = 0;
  size_t budget_ = 0;  // tokens that still fit into the step being planned
  Counts counts_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_SCHEDULER_TOKEN_SCHEDULER_H_
