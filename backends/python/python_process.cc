// SPDX-License-Identifier: Apache-2.0
#include "backends/python/python_process.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "backends/sdk/batch.h"
#include "backends/sdk/log.h"

namespace nereid_backend {
namespace {

using nereid_python::Command;
using nereid_python::ValueReader;
using nereid_python::ValueWriter;

// How often memory is looked for that a large request has needed and no other since.
constexpr uint64_t kTrimPeriod = 5 * BackOff::kSecond;
// How often the ring is emptied before the process's output is read.
constexpr int kRounds = 4;
// How long a process may take to exit after its finalize: its exit handlers have 1 s.
constexpr std::chrono::seconds kExitLimit{2};
constexpr char kEndedWell[] = "exited with status 0";

}  // namespace

PythonProcess::PythonProcess(Spec spec)
    : ProcessKeeper(StrCat("the process of Python model '", spec.model, "'")),
      spec_(std::move(spec)) {}

std::unique_ptr<PythonProcess> PythonProcess::Make(Spec spec) {
  return std::unique_ptr<PythonProcess>(new PythonProcess(std::move(spec)));
}

Result<std::unique_ptr<PythonProcess>> PythonProcess::StartToComplete(Spec spec,
                                                                      ValueWriter message) {
  std::unique_ptr<PythonProcess> process = Make(std::move(spec));
  process->complete_message_ = std::move(message);
  process->completing_ = true;
  NB_RETURN_IF_ERROR(process->Begin());
  {
    std::unique_lock lock(process->mu_);
    process->changed_.wait(
        lock, [&] { return process->completed_over_ || process->state_ == State::kOver; });
    if (process->completed_over_) {
      lock.unlock();
      return process;
    }
  }
  return process->AwaitFirst();
}

PythonProcess::~PythonProcess() { Stop(); }

Error PythonProcess::Initialize(std::string instance, ValueWriter message, OpenRequests* requests,
                                WaitGraph::Node* node, OnAvailable on_available) {
  bool running = false;
  {
    const std::lock_guard lock(mu_);
    instance_ = std::move(instance);
    initialize_message_ = std::move(message);
    requests_ = requests;
    node_ = node;
    on_available_ = std::move(on_available);
    running = completed_over_;
  }
  if (!running) {
    NB_RETURN_IF_ERROR(Begin());
    return AwaitFirst();
  }
  std::shared_ptr<Life> life;
  {
    const std::lock_guard lock(mu_);
    completing_ = false;
    deadline_ = NowNs() + spec_.start_limit_ns;
    life = life_;
    life->calls->set_instance(requests, node);
  }
  // If the process has ended meanwhile, AwaitFirst reports that.
  const Error begun = life->transport->Begin(Command::kInitialize, initialize_message_);
  if (begun.ok()) life->transport->Ring();  // so that the listening thread observes deadline_
  return AwaitFirst();
}

void PythonProcess::Finalize(uint64_t limit_ns) {
  std::shared_ptr<Life> life;
  {
    const std::lock_guard lock(mu_);
    if (state_ == State::kReady) life = life_;
  }
  if (life != nullptr) {
    const CommandTurn turn(life->transport.get(), limit_ns);
    if (turn.held()) ExpectEnd();
    ValueWriter none;
    none.None();
    Result<std::string_view> reply =
        turn.held() ? life->transport->Run(Command::kFinalize, none, limit_ns)
                    : Error(TRITONSERVER_ERROR_UNAVAILABLE, "the model is still busy");
    if (reply.ok()) {
      ValueReader reader(*reply);
      if (!reader.TakeNone()) {
        NB_LOG_ERROR("finalize of instance '", instance_, "' failed: ", reader.Text());
      }
      AwaitExit();
    } else if (!EndedWell(*life)) {
      NB_LOG_ERROR("instance '", instance_,
                   "' is ended before its finalize has ended: ", reply.error().message());
    }
  }
  Stop();
}

// The process waits until all that it has said is read, so its keeper has to listen until it ends.
void PythonProcess::AwaitExit() {
  std::unique_lock lock(mu_);
  changed_.wait_for(lock, kExitLimit, [&] { return state_ == State::kOver; });
}

// The process may have ended before its reply was read.
bool PythonProcess::EndedWell(const Life& life) {
  const std::lock_guard lock(mu_);
  return life.ended && life.end.rfind(kEndedWell, 0) == 0;
}

Result<std::shared_ptr<PythonProcess::Life>> PythonProcess::Get() {
  std::unique_lock lock(mu_);
  changed_.wait(lock, [&] { return state_ != State::kStarting; });
  if (state_ != State::kReady) return WaitingError();
  return life_;
}

bool PythonProcess::has_is_ready() {
  const std::lock_guard lock(mu_);
  return has_is_ready_;
}

Error PythonProcess::EndOf(const std::shared_ptr<Life>& life, bool* by_others) {
  std::unique_lock lock(mu_);
  changed_.wait(lock, [&] { return life->ended; });
  *by_others = life->killed_by_others;
  return EndedError(life->end);
}

Result<ChildProcess> PythonProcess::StartChild() {
  NB_ASSIGN_OR_RETURN(std::shared_ptr<Transport> transport, Transport::Create());
  const auto life = std::make_shared<Life>();
  life->transport = transport;
  {
    const std::lock_guard lock(mu_);
    life->calls = std::make_unique<Calls>(spec_.server, transport);
    life->calls->set_instance(requests_, node_);
    if (life_ != nullptr) retired_.push_back(std::move(life_));
    life_ = life;
    deadline_ = NowNs() + spec_.start_limit_ns;
  }
  // An earlier process is kept until the calls that it began have ended.
  retired_.erase(std::remove_if(retired_.begin(), retired_.end(),
                                [](const auto& retired) { return retired->calls->Idle(); }),
                 retired_.end());
  last_lines_.clear();
  NB_RETURN_IF_ERROR(transport->Begin(completing_ ? Command::kAutoComplete : Command::kInitialize,
                                      completing_ ? complete_message_ : initialize_message_));
  return spec_.starter->Start(
      {instance_.empty() ? spec_.model : instance_, spec_.threads, transport->descriptors()});
}

void PythonProcess::OnOutput(std::string_view text) {
  lines_.Add(text, [this](std::string_view line) { LogLine(line); });
}

std::string PythonProcess::Who() {
  const std::lock_guard lock(mu_);
  return instance_.empty() ? StrCat("model '", spec_.model, "'") : instance_;
}

void PythonProcess::LogLine(std::string_view line) {
  NB_LOG_INFO("python, ", Who(), ": ", line);
  last_lines_.emplace_back(line);
  if (last_lines_.size() > spec_.last_lines) last_lines_.pop_front();
}

bool PythonProcess::OnReadable() {
  life_->transport->ClearDoorbell();
  for (int round = 0; round < kRounds; ++round) {
    if (life_->calls->Take()) {
      if (!TakeReply()) return false;
      SayAvailable(true);
    }
    if (life_->transport->Sleep()) return true;
  }
  life_->transport->Ring();
  return true;
}

uint64_t PythonProcess::TrimDue() {
  if (!life_->transport->large()) {
    trim_at_ = 0;
  } else if (trim_at_ == 0) {
    trim_at_ = NowNs() + kTrimPeriod;
  }
  return trim_at_;
}

int PythonProcess::timeout_ms() {
  uint64_t due = TrimDue();
  {
    const std::lock_guard lock(mu_);
    if (deadline_ != 0 && (due == 0 || deadline_ < due)) due = deadline_;
  }
  if (due == 0) return -1;
  const uint64_t now = NowNs();
  return now < due ? static_cast<int>((due - now) / 1'000'000) + 1 : 0;
}

bool PythonProcess::OnTimeout() {
  if (trim_at_ != 0 && NowNs() >= trim_at_) {
    trim_at_ = 0;
    bool ready = false;
    {
      const std::lock_guard lock(mu_);
      ready = state_ == State::kReady && !end_expected_;
    }
    if (ready) life_->transport->Trim();
  }
  const std::lock_guard lock(mu_);
  if (deadline_ == 0 || NowNs() < deadline_) return true;
  RefuseStart(Error(
      TRITONSERVER_ERROR_UNAVAILABLE,
      StrCat("the process of Python model '", spec_.model, "' has not finished '",
             completing_ ? "auto_complete_config" : "initialize", "' within ",
             spec_.start_limit_ns / BackOff::kSecond,
             " s; --backend-config=python,initialize-timeout-seconds=<n> gives it more time")));
  return false;
}

// False if the process is unusable.
bool PythonProcess::TakeReply() {
  Result<std::string_view> reply = life_->transport->Reply();
  const std::lock_guard lock(mu_);
  deadline_ = 0;
  if (!reply.ok()) {
    RefuseStart(std::move(reply.error()));
    return false;
  }
  ValueReader reader(*reply);
  return completing_ ? TakeCompleted(&reader) : TakeInitialized(&reader);
}

// The reply is ("ok", text), ("error", text) or ("none",).
bool PythonProcess::TakeCompleted(ValueReader* reply) {
  reply->List();
  const std::string what = reply->Text();
  if (what == "ok") completed_ = reply->Text();
  if (what != "ok" && what != "none") {
    RefuseStart(Error::Internal(what == "error" ? reply->Text() : "the reply is damaged"));
    return false;
  }
  completed_over_ = true;
  changed_.notify_all();
  return true;
}

// The reply says whether the model has an is_ready, or is the text of an error.
bool PythonProcess::TakeInitialized(ValueReader* reply) {
  if (reply->Peek() != nereid_python::Tag::kText) {
    has_is_ready_ = reply->Bool();
    if (!reply->ok()) return false;
    BecomeReady();
    return true;
  }
  const std::string text = reply->Text();
  RefuseStart(Error::Internal(reply->ok() ? text : "the reply is damaged"));
  return false;
}

void PythonProcess::SayAvailable(bool available) {
  OnAvailable tell;
  {
    const std::lock_guard lock(mu_);
    if (available && state_ != State::kReady) return;  // it has completed a configuration
    tell = on_available_;
  }
  if (tell) tell(available);
}

// Others get the instance's work from now on, before a request finds out that the process has gone.
void PythonProcess::OnEnding() { SayAvailable(false); }

std::string PythonProcess::Explain(std::string how) {
  lines_.Flush([this](std::string_view line) { LogLine(line); });
  if (last_lines_.empty()) return how;
  {
    // A process that ends as it was told has nothing to explain; its lines are in the log already.
    const std::lock_guard lock(mu_);
    if (end_expected_ && how == kEndedWell) return how;
  }
  how += "; its last output:";
  for (const std::string& line : last_lines_) how += "\n  " + line;
  return how;
}

void PythonProcess::OnEnded(const std::string& how) {
  NB_LOG_VERBOSE("python, ", Who(), ": the process ", how);
  // Entries that the process wrote before its end still count.
  while (life_->calls->Take()) {
  }
  {
    const std::lock_guard lock(mu_);
    life_->ended = true;
    life_->end = how;
    life_->killed_by_others = killed_by_others();
    deadline_ = 0;
    changed_.notify_all();
  }
  life_->transport->Close();
  life_->calls->CancelAll();
  if (requests_ != nullptr) requests_->FailAll(EndedError(how));
}

}  // namespace nereid_backend
