// SPDX-License-Identifier: Apache-2.0
#include "scheduling/ensemble/ensemble_run.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/caught.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "infer/infer_request.h"
#include "scheduling/ensemble/ensemble_messages.h"
#include "scheduling/ensemble/ensemble_run_parts.h"
#include "scheduling/ensemble/step_allocator.h"
#include "scheduling/ensemble/step_queue.h"

namespace nereid {
namespace {

// The output `name` of `response`; null: there is none.
ResponseOutput* FindOutput(InferResponse* response, const std::string& name) {
  for (ResponseOutput& output : response->outputs()) {
    if (output.name() == name) return &output;
  }
  return nullptr;
}

}  // namespace

EnsembleRun::EnsembleRun(EnsembleContext* context, std::optional<StepPlan> own_plan)
    : context_(context),
      own_plan_(std::move(own_plan)),
      plan_(own_plan_.has_value() ? *own_plan_ : context->graph.full_plan()),
      models_(context->graph.steps().size()),
      progress_(context->graph, plan_),
      pool_(plan_),
      answers_(context->graph.steps().size(), 0),
      lanes_(context->graph.steps().size()) {}

EnsembleRun::~EnsembleRun() = default;

absl::StatusOr<std::shared_ptr<EnsembleRun>> EnsembleRun::Make(EnsembleContext* context,
                                                               const InferRequest& request) {
  const CompiledModel& config = *context->config;
  std::optional<StepPlan> own_plan;
  if (!request.asked_outputs().empty() && request.asked_outputs().size() < config.outputs.size()) {
    std::vector<uint32_t> outputs;
    for (const std::string& name : request.asked_outputs()) {
      outputs.push_back(static_cast<uint32_t>(config.FindOutput(name)));
    }
    std::sort(outputs.begin(), outputs.end());
    own_plan = context->graph.PlanFor(outputs);
  }
  auto run = std::make_shared<EnsembleRun>(context, std::move(own_plan));
  RETURN_IF_ERROR(run->HoldModels(request));
  return run;
}

absl::StatusOr<ModelPass> EnsembleRun::EnterModel(const EnsembleStep& step,
                                                  const InferRequest& request) const {
  auto entered = RetryOverSwaps([&]() -> std::optional<absl::StatusOr<ModelPass>> {
    absl::StatusOr<std::shared_ptr<ServingModel>> model =
        context_->resolver->Resolve(step, &request);
    if (!model.ok()) return model.status();
    // A closed model is entered, too, if it has the request's sequence.
    const bool lives_there = (*model)->HasSequence(request.correlation_id());
    ModelPass pass =
        lives_there ? ModelPass::Join(*std::move(model)) : ModelPass::Enter(*std::move(model));
    if (!pass) return std::nullopt;
    return pass;
  });
  if (entered.has_value()) return *std::move(entered);
  return absl::UnavailableError(
      absl::StrCat("Request for unknown model: '", step.model_name, "' has no available versions"));
}

absl::Status EnsembleRun::HoldModels(const InferRequest& request) {
  const std::vector<StepGraph::Step>& steps = context_->graph.steps();
  for (size_t i = 0; i < steps.size(); ++i) {
    if (plan_.runs[i] == 0) continue;
    absl::StatusOr<ModelPass> pass = EnterModel(steps[i].spec, request);
    if (!pass.ok()) return EnsembleError(*context_, pass.status(), static_cast<int>(i));
    models_[i] = *std::move(pass);
    // The graph was made from the models of its load. One that was reloaded since may fit in
    // everything but this.
    if (models_[i].model()->config().decoupled != steps[i].decoupled) {
      return EnsembleError(
          *context_,
          absl::FailedPreconditionError(absl::StrCat(
              "model '", steps[i].spec.model_name,
              "' was reloaded with another transaction policy: the ensemble has to be reloaded")),
          static_cast<int>(i));
    }
  }
  return absl::OkStatus();
}

bool EnsembleRun::HasSequence(const CorrelationId& id) const {
  return std::any_of(models_.begin(), models_.end(),
                     [&](const ModelPass& pass) { return pass && pass.model()->HasSequence(id); });
}

void EnsembleRun::Begin(RequestPtr request) noexcept {
  request_ = std::move(request);
  FlightRecord* const flight = request_->stream()->flight();
  if (flight != nullptr) flight->ensemble = FlightRecorder::NextEnsemble();
  Work work;
  {
    MutexLock lock(&mu_);
    try {
      if (plan_.decoupled) credit_ = request_->stream()->credit();
      if (credit_ != nullptr) pool_.CountIn(credit_->account());
      PutInputs(&work);
    } catch (const std::bad_alloc&) {
      FailForMemory(&work);
    }
    Settle(&work);  // the request may be complete already: outputs may be inputs
  }
  {
    // From now on OnCancel finds this run. An earlier cancellation is seen when a step starts.
    MutexLock lock(&context_->runs_mu);
    request_->PutSlot(this);
  }
  Do(std::move(work));
}

void EnsembleRun::PutInputs(Work* work) {
  const std::vector<uint32_t>& inputs = context_->graph.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (plan_.uses[inputs[i]] == 0) continue;
    const InferInput* const input = request_->FindInput(context_->config->inputs[i].name);
    TensorValue value;
    value.absent = input == nullptr;
    if (input != nullptr) {
      value.data_type = input->data_type();
      value.shape = input->shape();
      value.input = input;
    }
    Put(inputs[i], 0, std::move(value), work);
  }
}

void EnsembleRun::Put(uint32_t tensor, uint32_t iteration, TensorValue value, Work* work) {
  pool_.Put(tensor, iteration, std::move(value));
  absl::InlinedVector<uint32_t, 1> complete;
  progress_.Arrive(tensor, iteration, &work->start, &complete);
  QueueIterated(work);
  for (const uint32_t ready : complete) {
    if (plan_.decoupled) {
      to_send_.push_back(CollectAnswer(context_->graph, plan_, ready, &pool_));
      ++unsent_;
      largest_answer_ = std::max<uint64_t>(largest_answer_, to_send_.back().byte_size());
    } else {
      outputs_complete_ = true;
    }
  }
}

void EnsembleRun::StartStep(StepRun step) noexcept {
  Work work;
  std::unique_ptr<Call> call;
  {
    MutexLock lock(&mu_);
    absl::Status status;
    if (status_.ok() && request_->stream()->IsCancelled()) FailCancelled(&work);
    if (status_.ok()) call = TryMakeCall(step, &status);
    if (!status.ok()) {
      Fail(status, static_cast<int>(step.step), FailureReason::kOther, &work);
      call.reset();
    }
    if (call == nullptr) {
      EndStep(step, &work);
    } else {
      calls_.push_back(call.get());
    }
  }
  if (call != nullptr) Issue(std::move(call));
  if (step.admitted) {
    MutexLock lock(&mu_);
    EndStarting(step, &work);  // only now may the same step's next iteration be issued
  }
  Do(std::move(work));
}

void EnsembleRun::FailStep(StepRun step) noexcept {
  Work work;
  {
    MutexLock lock(&mu_);
    FailForMemory(&work);
    EndStarting(step, &work);
    EndStep(step, &work);
  }
  Do(std::move(work));
}

std::unique_ptr<EnsembleRun::Call> EnsembleRun::TryMakeCall(StepRun step,
                                                            absl::Status* status) noexcept try {
  calls_.reserve(calls_.size() + 1);
  return MakeCall(step, status);
} catch (const std::bad_alloc&) {
  *status = OutOfMemory();
  return nullptr;
}

std::unique_ptr<EnsembleRun::Call> EnsembleRun::MakeCall(StepRun step_run, absl::Status* status) {
  const StepGraph::Step& step = context_->graph.steps()[step_run.step];
  auto call = std::make_unique<Call>(shared_from_this(), step_run, models_[step_run.step].model(),
                                     step.spec.model_version);
  InferRequest& child = call->request;
  CopyHeader(*request_, &child);
  for (const StepGraph::Port& input : step.inputs) {
    const bool moving = context_->graph.tensors()[input.tensor].iterated;
    const TensorValue* const value = pool_.Find(input.tensor, moving ? step_run.iteration : 0);
    status->Update(AddChildInput(input.name, *value, &child));
  }
  size_t wanted = 0;
  for (const StepGraph::Port& output : step.outputs) wanted += plan_.uses[output.tensor] > 0;
  // A request without requested outputs asks for all of them.
  if (wanted < child.model()->config().outputs.size()) {
    for (const StepGraph::Port& output : step.outputs) {
      if (plan_.uses[output.tensor] > 0) status->Update(child.AddRequestedOutput(output.name));
    }
  }
  child.MakePart(&times_);
  if (const FlightRecord* const flight = request_->stream()->flight(); flight != nullptr) {
    child.set_step_of(flight->ensemble, static_cast<uint16_t>(step_run.step));
  }
  child.set_release_target({&EnsembleRun::OnRelease, call.get(), nullptr});
  ResponseTarget target{&EnsembleRun::OnResponse, call.get(), nullptr, context_->allocator};
  target.holder = request_->stream()->holder();
  const auto keeps_on_gpus = [this](uint32_t i) {
    const CompiledModel& model = models_[i].model()->config();
    return model.HasGpuInstance() && !model.response_cache;  // which keeps what is on the host
  };
  target.kept = FindGpuOutputs(context_->graph, plan_, step_run.step,
                               request_->response_target().on_gpu, keeps_on_gpus);
  target.allocator_userp = const_cast<void*>(target.kept.get());
  target.on_gpu = request_->touches_gpus();  // the step that ends last copies to the client's place
  if (step.decoupled && credit_ != nullptr) {
    call->credit = std::make_shared<ResponseCredit>(credit_->account(), credit_->most_bytes());
    if (steps_lack_credit_) call->credit->Withdraw();
    target.credit = call->credit;
  }
  child.set_response_target(target);
  return call;
}

absl::Status EnsembleRun::TryIssue(Call* call) noexcept try {
  if (!call->request.model()->config().decoupled) call->request.set_inline_turn(StepQueue::turn());
  if (const InferenceTrace* const trace = request_->trace()) {
    call->request.set_trace(HoldTrace(trace->MakeChild()));
  }
  return IssueRequest(models_[call->step.step].Another(), &call->request,
                      ToNanos(context_->clock->Now()));
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

void EnsembleRun::Issue(std::unique_ptr<Call> owned) noexcept {
  Call* const call = owned.release();  // safe to use: pinned
  const absl::Status issued = TryIssue(call);
  if (!issued.ok()) {
    const TracePtr trace = call->request.TakeTrace();
    if (trace != nullptr) trace->ReportError(issued.message());
  }
  Work work;
  {
    MutexLock lock(&mu_);
    if (issued.ok()) {
      call->issued = true;
      // Another step failed before this call could be cancelled.
      if (!status_.ok() && !call->answered) {
        ++call->pins;
        work.cancel.push_back(call);
      }
    } else {
      Fail(issued, static_cast<int>(call->step.step), FailureReason::kOther, &work);
      DropInputs(*call, &work);
      call->released = true;
      EndCall(call, &work);
    }
    --call->pins;
    CloseIfDone(call, &work);
  }
  Do(std::move(work));
}

void EnsembleRun::OnResponse(InferResponse* response, uint32_t flags,
                             const ResponseTarget& target) {
  Call* const call = static_cast<Call*>(target.userp);
  std::unique_ptr<InferResponse> owned(response);
  const std::shared_ptr<EnsembleRun> run = call->run;
  Work work;
  {
    MutexLock lock(&run->mu_);
    if (owned != nullptr && !owned->status().ok()) {
      run->Fail(owned->status(), static_cast<int>(call->step.step), FailureReason::kOther, &work);
    } else if (owned != nullptr && run->status_.ok()) {
      try {
        run->TakeOutputs(call, owned.get(), flags, &work);
      } catch (const std::bad_alloc&) {
        run->FailForMemory(&work);
      }
    }
    if ((flags & kResponseCompleteFinal) != 0) {
      run->EndCall(call, &work);
      run->CloseIfDone(call, &work);
    } else {
      work.deliver = !run->to_send_.empty() && !std::exchange(run->sending_, true);
    }
  }
  owned.reset();  // frees the outputs that were not taken
  run->Do(std::move(work));
}

void EnsembleRun::TakeOutputs(Call* call, InferResponse* response, uint32_t flags, Work* work) {
  const StepGraph::Step& step = context_->graph.steps()[call->step.step];
  const int failed_step = static_cast<int>(call->step.step);
  absl::StatusOr<std::shared_ptr<const SequenceOverride>> sequence =
      ReadSequenceOverride(*response);
  if (!sequence.ok()) return Fail(sequence.status(), failed_step, FailureReason::kOther, work);
  // A response without outputs counts, as one that leaves all of them out, only if it is the only
  // response of a model that is not decoupled.
  const bool only = !step.decoupled && !call->gave_outputs && (flags & kResponseCompleteFinal) != 0;
  if (response->outputs().empty() && !only) return;
  if (std::exchange(call->gave_outputs, true) && !step.decoupled) {
    return Fail(absl::InternalError("several answers of a model that is not decoupled"),
                failed_step, FailureReason::kOther, work);
  }
  const uint32_t iteration = step.decoupled ? answers_[call->step.step]++ : call->step.iteration;
  for (const StepGraph::Port& port : step.outputs) {
    if (plan_.uses[port.tensor] == 0) continue;
    TensorValue value;
    if (ResponseOutput* const output = FindOutput(response, port.name)) {
      value.data_type = output->data_type();
      value.shape = output->shape();
      value.bytes = TensorBytes(output->TakeBuffer(), context_->allocator);
      value.sequence = *sequence;
    } else {
      value.absent = true;
    }
    Put(port.tensor, iteration, std::move(value), work);
  }
}

void EnsembleRun::OnRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target) {
  Call* const call = static_cast<Call*>(target.userp);
  const std::shared_ptr<EnsembleRun> run = call->run;
  Work work;
  {
    MutexLock lock(&run->mu_);
    run->DropInputs(*call, &work);
    call->released = true;
    run->CloseIfDone(call, &work);
  }
  run->Do(std::move(work));
}

void EnsembleRun::EndCall(Call* call, Work* work) noexcept {
  call->answered = true;
  EndStep(call->step, work);
}

void EnsembleRun::EndStep(const StepRun& step, Work* work) noexcept {
  if (step.admitted) --admitted_;
  if (step.gated) {
    PassGate(work);  // first, so that what waits for the outputs counts when the next one starts
    context_->gate.Leave(step.step, &work->others);
  }
  progress_.Finish();
  Resume(work);
  Settle(work);
}

void EnsembleRun::DropInputs(const Call& call, Work* work) noexcept {
  for (const StepGraph::Port& input : context_->graph.steps()[call.step.step].inputs) {
    const bool moving = context_->graph.tensors()[input.tensor].iterated;
    EndUse(input.tensor, moving ? call.step.iteration : 0, work);
  }
}

void EnsembleRun::EndUse(uint32_t tensor, uint32_t iteration, Work* work) noexcept {
  TensorBytes last = pool_.EndUse(tensor, iteration);
  if (last.buffer().base == nullptr) return;
  try {
    work->freed.push_back(std::move(last));
  } catch (const std::bad_alloc&) {
    // `last` frees the tensor here, although the mutex is held.
  }
}

void EnsembleRun::CloseIfDone(Call* call, Work* work) {
  if (!call->answered || !call->released || call->pins > 0) return;
  calls_.erase(std::find(calls_.begin(), calls_.end(), call));
  work->closed.reset(call);
  work->end = MayEnd();
}

void EnsembleRun::Unpin(Call* call) {
  Work work;
  {
    MutexLock lock(&mu_);
    --call->pins;
    CloseIfDone(call, &work);
  }
  Do(std::move(work));
}

void EnsembleRun::Cancel() {
  Work work;
  {
    MutexLock lock(&mu_);
    if (settled_ || !status_.ok()) return;
    FailCancelled(&work);
    Settle(&work);
  }
  Do(std::move(work));
}

void EnsembleRun::FailCancelled(Work* work) noexcept {
  Fail(SureStatus(absl::StatusCode::kCancelled, "the request was cancelled"), -1,
       FailureReason::kCanceled, work);
}

absl::Status EnsembleRun::SureEnsembleError(const absl::Status& error, int step) const noexcept
    try {
  return EnsembleError(*context_, error, step);
} catch (const std::bad_alloc&) {
  return error;
}

void EnsembleRun::FailForMemory(Work* work) noexcept {
  Fail(OutOfMemory(), -1, FailureReason::kOther, work);
}

void EnsembleRun::Fail(const absl::Status& error, int step, FailureReason reason,
                       Work* work) noexcept {
  if (!status_.ok() || settled_) return;
  status_ = SureEnsembleError(error, step);
  reason_ = reason;
  progress_.Abandon();
  if (context_->gate.limits()) LeaveGate(work);
  // Nobody will start what waits: it counts as done, or the run would never settle.
  for (Lane& lane : lanes_) {
    for (size_t n = lane.waiting.size(); n > 0; --n) progress_.Finish();
    lane.waiting.clear();
  }
  waiting_ = 0;
  for (Call* const call : calls_) {
    if (!call->issued || call->answered) continue;
    try {
      work->cancel.push_back(call);
      ++call->pins;
    } catch (const std::bad_alloc&) {
      return;  // the remaining calls are not cancelled: they run to their end
    }
  }
}

void EnsembleRun::Settle(Work* work) noexcept {
  if (!settled_ && progress_.under_way() == 0) {
    settled_ = true;
    try {
      ProvideFinal();
    } catch (const std::bad_alloc&) {
      status_ = OutOfMemory();
      succeeded_ = false;
      last_.emplace();
    }
    if (last_.has_value()) {
      last_->error = status_;
      last_->reason = reason_;
      last_->is_final = true;
    }
  }
  // Whoever sets sending_ delivers; others leave their answers to that thread, so that the order
  // holds.
  const bool any = !to_send_.empty() || last_.has_value();
  if (any && !std::exchange(sending_, true)) work->deliver = true;
}

void EnsembleRun::ProvideFinal() {
  if (status_.ok() && !plan_.decoupled && !outputs_complete_) {
    status_ = MissingOutputError(*context_, *request_, plan_, progress_);
  }
  succeeded_ = status_.ok();
  if (succeeded_ && !plan_.decoupled) {
    to_send_.push_back(CollectAnswer(context_->graph, plan_, 0, &pool_));
  }
  if (succeeded_ && !to_send_.empty()) {
    to_send_.back().is_final = true;
  } else {
    last_.emplace();
  }
}

void EnsembleRun::Do(Work work) noexcept {
  const std::shared_ptr<EnsembleRun> self = shared_from_this();
  work.closed.reset();
  work.freed.clear();
  work.credited.Call();
  if (work.awaited != nullptr) {
    Work await;
    await.awaited = std::move(work.awaited);
    await.members = std::move(work.members);
    AwaitCredit(std::move(await));
  }
  if (!work.start.empty() && context_->gate.limits()) {
    MutexLock lock(&mu_);
    PassGate(&work);
  }
  if (!work.start.empty()) StepQueue::Start(self, work.start);
  for (const StepGate::Entry& other : work.others) StepQueue::Start(other.run, {other.step});
  for (Call* const call : work.cancel) {
    try {
      if (absl::Status s = call->request.Cancel(); !s.ok()) {
        LOG_ERROR_SELDOM << call->request.About() << s.message();
      }
    } catch (const std::bad_alloc&) {
      // The call is not cancelled: it runs to its end.
    }
    Unpin(call);
  }
  if (work.deliver) Deliver();
  if (work.end) End();
}

void EnsembleRun::Deliver() noexcept {
  bool end = false;
  for (bool more = true; more;) {
    std::vector<EnsembleAnswer> answers;
    std::optional<EnsembleAnswer> last;
    {
      MutexLock lock(&mu_);
      answers.swap(to_send_);
      last.swap(last_);
      if (answers.empty() && !last.has_value()) {
        sending_ = more = false;
        end = MayEnd();
      }
    }
    for (EnsembleAnswer& answer : answers) DeliverOne(&answer, /*counted=*/plan_.decoupled);
    if (last.has_value()) DeliverOne(&*last, /*counted=*/false);
  }
  if (end) End();
}

absl::Status EnsembleRun::TrySend(EnsembleAnswer* answer) noexcept try {
  return SendAnswer(*context_, request_.get(), answer);
} catch (const std::bad_alloc&) {
  if (answer->is_final) request_->RespondError(OutOfMemory(), FailureReason::kOther);
  return OutOfMemory();
}

void EnsembleRun::DeliverOne(EnsembleAnswer* answer, bool counted) noexcept {
  bool skip = false;
  {
    MutexLock lock(&mu_);
    skip = !send_error_.ok() && !answer->is_final;
    if (answer->is_final && answer->error.ok()) answer->error = send_error_;
  }
  const absl::Status sent = skip ? absl::OkStatus() : TrySend(answer);
  Work work;
  {
    MutexLock lock(&mu_);
    for (const EnsembleAnswer::Output& output : answer->outputs) {
      if (output.in_pool) EndUse(output.tensor, output.iteration, &work);
    }
    if (counted) --unsent_;
    if (!sent.ok()) {
      Fail(sent, -1, FailureReason::kOther, &work);
      send_error_ = SureEnsembleError(sent, -1);
      Settle(&work);
    }
    Resume(&work);
    if (answer->is_final) {
      final_sent_ = true;
      succeeded_ = succeeded_ && sent.ok() && answer->error.ok();
    }
  }
  Do(std::move(work));
}

bool EnsembleRun::MayEnd() {
  if (!final_sent_ || sending_ || !calls_.empty() || ended_) return false;
  ended_ = true;
  return true;
}

void EnsembleRun::End() {
  size_t peak = 0;
  bool succeeded = false;
  {
    MutexLock lock(&mu_);
    succeeded = succeeded_;
    peak = pool_.peak_bytes();
    pool_.Clear();
    progress_.Abandon();
  }
  if (succeeded) RecordEnsembleSuccess(*context_, *request_, times_);
  size_t seen = context_->peak_bytes.load(std::memory_order_relaxed);
  while (seen < peak && !context_->peak_bytes.compare_exchange_weak(seen, peak)) {
  }
  for (ModelPass& pass : models_) pass = ModelPass();
  {
    MutexLock lock(&context_->runs_mu);
    request_->TakeSlot(this);
  }
  // Last, because the context may be destroyed with the request.
  request_.reset();
}

}  // namespace nereid
