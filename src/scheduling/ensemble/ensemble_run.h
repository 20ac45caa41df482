// SPDX-License-Identifier: Apache-2.0
// EnsembleRun: one request to an ensemble on its way through the steps. It has no thread of its
// own: the thread that brings an answer of a step stores the tensors and starts the next steps.
// Thread-safe.
//
// The answers of a run with several ones are sent at once, whether their client reads them or not.
// But the run starts a step only while its request has credit (infer/response_credit.h), and only
// so many ahead of its answers as would use the credit up. The others wait here. While too many
// wait, the decoupled steps have no credit.
//
// Kept alive by the executions under way and by the threads that start them. It releases its
// request, the tensors and the models when the last execution has ended and the client has its
// answer.
#ifndef NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_RUN_H_
#define NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_RUN_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "infer/infer_request.h"
#include "infer/response_stream.h"
#include "scheduling/ensemble/ensemble_context.h"
#include "scheduling/ensemble/ensemble_messages.h"
#include "scheduling/ensemble/step_graph.h"
#include "scheduling/ensemble/tensor_pool.h"

namespace nereid {

class EnsembleRun : public std::enable_shared_from_this<EnsembleRun> {
 public:
  // Finds and holds the models that `request` needs. Errors: those of the look-up, in the form that
  // the client sees. `context` outlives the run's request.
  static absl::StatusOr<std::shared_ptr<EnsembleRun>> Make(EnsembleContext* context,
                                                           const InferRequest& request);
  // Use Make.
  EnsembleRun(EnsembleContext* context, std::optional<StepPlan> own_plan);
  ~EnsembleRun();

  // Whether a model of the request's steps has the sequence `id`.
  bool HasSequence(const CorrelationId& id) const;
  // Takes the request and starts the steps that need only its inputs. From here on a lack of memory
  // fails the request, but never the thread. REQUIRES: called once.
  void Begin(RequestPtr request) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // Starts one execution. For the StepQueue.
  void StartStep(StepRun step) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // Ends an execution that cannot be started for lack of memory.
  void FailStep(StepRun step) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // The request may have credit again.
  void OnCredit() noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // The request was cancelled: no step starts any more, and running steps are cancelled, too.
  void Cancel() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Call;
  struct Work;
  // The iterations of a step that may start when there is credit and room. They are issued one
  // after the other in their order, whichever threads do it, because they may be a sequence.
  struct Lane {
    std::set<uint32_t> waiting;
    bool starting = false;  // one has been taken out and not been issued yet
  };

  // Takes passes of the models of the steps that run. Errors: those of the look-up.
  absl::Status HoldModels(const InferRequest& request);
  // Enters the model of a step.
  absl::StatusOr<ModelPass> EnterModel(const EnsembleStep& step, const InferRequest& request) const;

  // ---- An execution of a step, and its answers. On any thread.
  std::unique_ptr<Call> MakeCall(StepRun step, absl::Status* status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // MakeCall, after making room for the call in calls_. Null: no memory, which `status` says.
  std::unique_ptr<Call> TryMakeCall(StepRun step, absl::Status* status) noexcept
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Issue(std::unique_ptr<Call> call) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status TryIssue(Call* call) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  void PutInputs(Work* work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static void OnResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target);
  static void OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target);
  void TakeOutputs(Call* call, InferResponse* response, uint32_t flags, Work* work)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Put(uint32_t tensor, uint32_t iteration, TensorValue value, Work* work)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // `call` has given its final answer.
  void EndCall(Call* call, Work* work) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // `call` does not need its inputs any more.
  void DropInputs(const Call& call, Work* work) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndUse(uint32_t tensor, uint32_t iteration, Work* work) noexcept
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Forgets `call` if no answer is still to come and no thread uses it.
  void CloseIfDone(Call* call, Work* work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Unpin(Call* call) ABSL_LOCKS_EXCLUDED(mu_);

  // ---- Credit, and the ensemble's limit.
  // Whether `step` is executed once for each response of a decoupled step.
  bool IsIterated(const StepRun& step) const;
  // Moves the iterated steps of work->start to those that wait, and starts what may start.
  void QueueIterated(Work* work) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether one more execution may be ahead of the answers.
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Of the steps of which an iteration waits and none is being issued, the one whose iteration is
  // the earliest, which is the nearest to its answer; null: there is none.
  Lane* NextLane() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    Lane* next = nullptr;
    for (Lane& lane : lanes_) {
      if (lane.starting || lane.waiting.empty()) continue;
      if (next == nullptr || *lane.waiting.begin() < *next->waiting.begin()) next = &lane;
    }
    return next;
  }
  // Starts what waits and may start, and tells the decoupled steps whether they have credit.
  void Resume(Work* work) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ShareCredit(bool credit, Work* work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // `step` has been issued, or is not: its next iteration may start.
  void EndStarting(const StepRun& step, Work* work) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // An execution has ended, or was not begun.
  void EndStep(const StepRun& step, Work* work) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Leaves in work->start what may start at once. The gate has the rest.
  void PassGate(Work* work) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes what waits for this run out of the gate.
  void LeaveGate(Work* work) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Asks to be told when there is credit again.
  void AwaitCredit(Work work) noexcept ABSL_LOCKS_EXCLUDED(mu_);

  // ---- The request as a whole.
  // The first failure decides; running steps are cancelled. `step`: negative if the failure belongs
  // to no step.
  void Fail(const absl::Status& error, int step, FailureReason reason, Work* work) noexcept
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FailCancelled(Work* work) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // `error` in the form that the client sees; unchanged if memory is exhausted.
  absl::Status SureEnsembleError(const absl::Status& error, int step) const noexcept;
  void FailForMemory(Work* work) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Once nothing is under way, prepares the final answer.
  void Settle(Work* work) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ProvideFinal() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Carries out the collected work, outside the mutex.
  void Do(Work work) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // Sends the answers that are due, in order; one thread at a time.
  void Deliver() noexcept ABSL_LOCKS_EXCLUDED(mu_);
  // `counted`: the answer is one of unsent_.
  void DeliverOne(EnsembleAnswer* answer, bool counted) noexcept ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status TrySend(EnsembleAnswer* answer) noexcept;
  bool MayEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void End() ABSL_LOCKS_EXCLUDED(mu_);

  EnsembleContext* const context_;
  const std::optional<StepPlan> own_plan_;  // if the request asks for only some of the outputs
  const StepPlan& plan_;
  ComputeTimes times_;
  RequestPtr request_;                        // from Begin to End
  absl::InlinedVector<ModelPass, 4> models_;  // by step; without a model: the step does not run
  // Of the request, if it may have several answers; null: it always has credit. Set by Begin.
  std::shared_ptr<ResponseCredit> credit_;

  Mutex mu_;
  RunProgress progress_ ABSL_GUARDED_BY(mu_);
  TensorPool pool_ ABSL_GUARDED_BY(mu_);
  absl::InlinedVector<Call*, 4> calls_ ABSL_GUARDED_BY(mu_);  // each owns itself
  // By step: the number of answers so far, for decoupled steps.
  absl::InlinedVector<uint32_t, 4> answers_ ABSL_GUARDED_BY(mu_);
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  FailureReason reason_ ABSL_GUARDED_BY(mu_) = FailureReason::kOther;
  absl::InlinedVector<Lane, 4> lanes_ ABSL_GUARDED_BY(mu_);  // by step
  size_t waiting_ ABSL_GUARDED_BY(mu_) = 0;                  // iterations, in all lanes
  uint32_t admitted_ ABSL_GUARDED_BY(mu_) = 0;  // executions that have started or will at once
  uint32_t unsent_ ABSL_GUARDED_BY(mu_) = 0;    // answers that are complete
  uint64_t largest_answer_ ABSL_GUARDED_BY(mu_) = 0;
  // The following are used if there is a credit_.
  bool steps_lack_credit_ ABSL_GUARDED_BY(mu_) = false;  // the decoupled ones
  bool awaits_credit_ ABSL_GUARDED_BY(mu_) = false;      // OnCredit will be called

  std::vector<EnsembleAnswer> to_send_ ABSL_GUARDED_BY(mu_);
  // Sent after all of to_send_: a final answer without outputs, which takes no memory.
  std::optional<EnsembleAnswer> last_ ABSL_GUARDED_BY(mu_);
  bool outputs_complete_ ABSL_GUARDED_BY(mu_) = false;  // used if no step is decoupled
  bool settled_ ABSL_GUARDED_BY(mu_) = false;           // the final answer was prepared
  bool sending_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status send_error_ ABSL_GUARDED_BY(mu_);  // of the last answer that could not be sent
  bool final_sent_ ABSL_GUARDED_BY(mu_) = false;
  bool succeeded_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_ENSEMBLE_RUN_H_
