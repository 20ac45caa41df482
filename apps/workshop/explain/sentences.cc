// SPDX-License-Identifier: Apache-2.0
#include "explain/sentences.h"

namespace nereid {
namespace {

struct Reason {
  absl::string_view name;
  absl::string_view because;
  absl::string_view advice;
};

constexpr Reason kReasons[] = {
    {"full", "because it was full",
     "Batches leave full: a larger max_batch_size would make them larger, if the model gains by "
     "that."},
    {"preferred_size", "because it had reached a preferred size",
     "Batches leave at a preferred size: preferred_batch_size limits them."},
    {"delay_over", "because its oldest request had waited for the queue delay",
     "Batches wait for the whole queue delay and do not get full: a shorter "
     "max_queue_delay_microseconds would answer sooner with batches that are hardly smaller, a "
     "longer one would make them larger."},
    {"idle_instance", "because an instance was idle and there was nothing to wait for",
     "Batches leave because an instance is idle: they get larger only with a queue delay "
     "(max_queue_delay_microseconds), with fewer instances, or under more load."},
    {"shape_change", "because the next request had another shape",
     "Batches are cut where the shape changes: pad the inputs to a few shapes, or allow ragged "
     "batches."},
    {"target", "because a larger one would have missed the latency target",
     "The latency target limits the batches: a longer one would make them larger."},
    {"strategy", "because the model's own batching closed it",
     "The model's own batching closes the batches."},
    {"end_of_turn", "because the thread that brought the requests executed them itself",
     "Batches are executed by the threads that bring the requests, since the model is quick: they "
     "hold what came at the same time."},
    {"sequence_slots", "because enough sequences had a request",
     "Batches leave when enough sequences have a request: minimum_slot_utilization and "
     "max_queue_delay_microseconds say how many that are."},
    {"not_batched", "alone, because the model executes requests one by one",
     "The model executes requests one by one: dynamic_batching would run them together, if the "
     "model can batch."},
};

struct PhaseWords {
  absl::string_view name;
  absl::string_view doing;
};

constexpr PhaseWords kPhaseWords[] = {
    {"admission", "being checked and handed to the queue"},
    {"cache", "in the look-up of the response cache"},
    {"sequence_slot", "waiting for a sequence slot, which other sequences held"},
    {"queue", "waiting in the queue for other requests or for an instance"},
    {"rate_limit", "waiting for the rate limiter, though the batch was due"},
    {"dispatch", "on the way from the queue to the instance"},
    {"compute_input", "waiting for the backend to prepare inputs"},
    {"compute_infer", "being computed by the model"},
    {"steps", "in the steps of the ensemble"},
    {"compute_output", "waiting for the backend to turn outputs into an answer"},
    {"sending", "waiting for the answer to be sent"},
};

}  // namespace

absl::string_view BecauseOf(absl::string_view reason) {
  for (const Reason& known : kReasons) {
    if (known.name == reason) return known.because;
  }
  return {};
}

absl::string_view AdviceOnReason(absl::string_view reason) {
  for (const Reason& known : kReasons) {
    if (known.name == reason) return known.advice;
  }
  return {};
}

absl::string_view DoingIn(absl::string_view phase) {
  for (const PhaseWords& words : kPhaseWords) {
    if (words.name == phase) return words.doing;
  }
  return phase;
}

}  // namespace nereid
