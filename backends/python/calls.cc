// SPDX-License-Identifier: Apache-2.0
#include "backends/python/calls.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "backends/python/answers.h"
#include "backends/python/parameters.h"
#include "backends/python/response.h"
#include "backends/sdk/boundary.h"
#include "backends/sdk/log.h"
#include "triton/core/tritonserver.h"

namespace nereid_backend {
namespace {

using nereid_python::Entry;
using nereid_python::EntryKind;
using nereid_python::Tag;
using nereid_python::ValueReader;
using nereid_python::ValueWriter;
using CallKind = nereid_python::Call;

void AnswerNumber(Transport* transport, uint32_t slot, Result<uint64_t> number) {
  if (!number.ok()) {
    return AnswerError(transport, slot, number.error().code(), number.error().message());
  }
  ValueWriter writer;
  BeginAnswer(&writer);
  writer.Uint(*number);
  transport->Answer(slot, writer);
}

void AnswerBool(Transport* transport, uint32_t slot, const bool value) {
  ValueWriter writer;
  BeginAnswer(&writer);
  writer.Bool(value);
  transport->Answer(slot, writer);
}

Error LoadModel(TRITONSERVER_Server* server, const std::string& model, const std::string& config,
                const ModelControl::Files& files) {
  std::vector<OwnedParameter> owned;
  if (!config.empty()) {
    owned.emplace_back(
        TRITONSERVER_ParameterNew("config", TRITONSERVER_PARAMETER_STRING, config.c_str()));
  }
  for (const auto& [name, content] : files) {
    owned.emplace_back(
        TRITONSERVER_ParameterBytesNew(name.c_str(), content.data(), content.size()));
  }
  std::vector<const TRITONSERVER_Parameter*> parameters;
  for (const OwnedParameter& parameter : owned) parameters.push_back(parameter.get());
  return Error(TRITONSERVER_ServerLoadModelWithParameters(server, model.c_str(), parameters.data(),
                                                          parameters.size()));
}

Result<int64_t> ReadVersion(const std::string& text) {
  if (text.empty()) return int64_t{-1};
  int64_t version = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, version);
  const std::string what =
      StrCat("failed to get model version from specified version string '", text, "'");
  if (error != std::errc() || stopped != end) {
    return Error::InvalidArg(
        StrCat(what, " (details: stol), version should be an integral value > 0"));
  }
  if (version < 0) {
    return Error::InvalidArg(StrCat(what, ", version should be an integral value > 0"));
  }
  return version;
}

}  // namespace

ModelControl::~ModelControl() {
  for (Job& job : jobs_) job.thread.join();
}

void ModelControl::Start(std::function<Error()> work, Done done) {
  const std::lock_guard lock(mu_);
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    if (it->over) it->thread.join();
    it = it->over ? jobs_.erase(it) : std::next(it);
  }
  Job& job = jobs_.emplace_back();
  job.thread = std::thread([this, &job, work = std::move(work), done = std::move(done)] {
    done(Guarded("model control", work));
    const std::lock_guard over(mu_);
    job.over = true;
  });
}

bool ModelControl::Idle() {
  const std::lock_guard lock(mu_);
  return std::all_of(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.over; });
}

void ModelControl::Load(std::string model, std::string config, Files files, Done done) {
  Start([server = server_, model = std::move(model), config = std::move(config),
         files = std::move(files)] { return LoadModel(server, model, config, files); },
        std::move(done));
}

void ModelControl::Unload(std::string model, bool dependents, Done done) {
  Start(
      [server = server_, model = std::move(model), dependents] {
        return Error(dependents ? TRITONSERVER_ServerUnloadModelAndDependents(server, model.c_str())
                                : TRITONSERVER_ServerUnloadModel(server, model.c_str()));
      },
      std::move(done));
}

Result<bool> ModelControl::IsReady(const std::string& model, const std::string& version) const {
  NB_ASSIGN_OR_RETURN(const int64_t number, ReadVersion(version));
  bool ready = false;
  // A model that is not known is not ready, as in Triton.
  const Error unknown(TRITONSERVER_ServerModelIsReady(server_, model.c_str(), number, &ready));
  return unknown.ok() && ready;
}

Calls::Calls(TRITONSERVER_Server* server, std::shared_ptr<Transport> transport)
    : transport_(transport), control_(server), children_(server, transport) {}

bool Calls::Take() {
  bool replied = false;
  Entry entry;
  for (uint32_t i = 0; i < nereid_python::Ring::kEntries && transport_->NextEntry(&entry); ++i) {
    if (static_cast<EntryKind>(entry.kind) == EntryKind::kReplied) replied = true;
    const Error handled = Guarded("a call of a Python model", [&] {
      Handle(entry);
      return Error();
    });
    if (!handled.ok()) NB_LOG_ERROR("a call of a Python model: ", handled.message());
    transport_->EndEntry();
  }
  return replied;
}

void Calls::Handle(const Entry& entry) {
  const auto kind = static_cast<EntryKind>(entry.kind);
  if (kind == EntryKind::kFree) return transport_->Free(entry.offset);
  if (kind != EntryKind::kCall && kind != EntryKind::kPost) return;
  const Result<std::string_view> message = transport_->MessageOf(entry);
  // A damaged call gets no answer, so the thread that made it keeps waiting. This is acceptable for
  // a process that writes nonsense.
  if (!message.ok()) {
    NB_LOG_ERROR("a call of a Python model is damaged");
    return;
  }
  ValueReader arguments(*message);
  arguments.List();
  const auto call = static_cast<CallKind>(arguments.Uint());
  if (requests_ == nullptr &&
      (call == CallKind::kSend || call == CallKind::kClosed || call == CallKind::kIsCancelled)) {
    NB_LOG_ERROR("a Python model's process speaks of requests before it has got any");
  } else if (kind == EntryKind::kPost) {
    Post(call, &arguments);
  } else {
    Call(call, &arguments, entry.slot);
  }
}

void Calls::Post(CallKind call, ValueReader* arguments) {
  switch (call) {
    case CallKind::kSend:
      return Send(arguments);
    case CallKind::kLog:
      return Log(arguments);
    case CallKind::kClosed:
      return requests_->Drop(arguments->Uint());
    case CallKind::kStreamClose:
      return children_.CloseStream(arguments->Uint());
    case CallKind::kStreamCancel:
      return children_.Cancel(arguments->Uint());
    case CallKind::kMetricFamilyDelete:
      return metrics_.DeleteFamily(arguments->Uint());
    case CallKind::kMetricDelete:
      return metrics_.DeleteMetric(arguments->Uint());
    default:
      NB_LOG_ERROR("a Python model's process says what is not known");
  }
}

void Calls::Call(CallKind call, ValueReader* arguments, uint32_t slot) {
  Transport* const transport = transport_.get();
  switch (call) {
    case CallKind::kIsCancelled:
      return AnswerBool(transport, slot, requests_->IsCancelled(arguments->Uint()));
    case CallKind::kInfer:
      return children_.Infer(arguments, slot);
    case CallKind::kStreamNext:
      return children_.Next(arguments->Uint(), slot);
    case CallKind::kLoadModel:
      return LoadModel(arguments, slot);
    case CallKind::kUnloadModel: {
      std::string model = arguments->Text();
      const bool dependents = arguments->Bool();
      return control_.Unload(std::move(model), dependents, [transport, slot](const Error& error) {
        AnswerDone(transport, slot, error);
      });
    }
    case CallKind::kIsModelReady: {
      const std::string model = arguments->Text();
      Result<bool> ready = control_.IsReady(model, arguments->Text());
      if (ready.ok()) return AnswerBool(transport, slot, *ready);
      return AnswerDone(transport, slot, ready.error());
    }
    case CallKind::kMetricFamilyNew: {
      const int64_t kind = arguments->Int();
      const std::string name = arguments->Text();
      if (const Error taken = CheckFamilyName(name); !taken.ok()) {
        return AnswerDone(transport, slot, taken);
      }
      return AnswerNumber(transport, slot, metrics_.NewFamily(kind, name, arguments->Text()));
    }
    case CallKind::kMetricNew:
      return NewMetric(arguments, slot);
    case CallKind::kMetricIncrement:
    case CallKind::kMetricSet:
    case CallKind::kMetricObserve:
    case CallKind::kMetricValue:
      return ChangeMetric(call, arguments, slot);
    default:
      return AnswerError(transport, slot, TRITONSERVER_ERROR_INTERNAL,
                         "a Python model's process asks what is not known");
  }
}

void Calls::Send(ValueReader* arguments) {
  const uint64_t number = arguments->Uint();
  std::optional<PythonResponse> response;
  if (!arguments->TakeNone()) response = PythonResponse::Read(arguments);
  const bool final = (arguments->Uint() & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0;
  if (!arguments->ok()) {
    return requests_->Fail(number, Error::Internal("a response of a Python model is damaged"));
  }
  OutputSource source(transport_, /*lends=*/false);
  requests_->Send(number, response.has_value() ? &*response : nullptr, final, &source, transport_);
}

void Calls::Log(ValueReader* arguments) {
  const int64_t level = arguments->Int();
  const std::string file = arguments->Text();
  const auto line = static_cast<int>(arguments->Int());
  const std::string text = arguments->Text();
  if (!arguments->ok() || level < TRITONSERVER_LOG_INFO || level > TRITONSERVER_LOG_VERBOSE) return;
  LogLine(static_cast<TRITONSERVER_LogLevel>(level), file.c_str(), line, text);
}

void Calls::LoadModel(ValueReader* arguments, uint32_t slot) {
  std::string model = arguments->Text();
  std::string config = arguments->Text();
  ModelControl::Files files;
  const size_t count = arguments->Map();
  for (size_t i = 0; i < count && arguments->ok(); ++i) {
    std::string name = arguments->Text();
    files.emplace_back(std::move(name), std::string(arguments->Bytes()));
  }
  control_.Load(std::move(model), std::move(config), std::move(files),
                [transport = transport_.get(), slot](const Error& error) {
                  AnswerDone(transport, slot, error);
                });
}

void Calls::NewMetric(ValueReader* arguments, uint32_t slot) {
  const uint64_t family = arguments->Uint();
  ModelMetrics::Labels labels;
  const size_t count = arguments->Map();
  for (size_t i = 0; i < count && arguments->ok(); ++i) {
    std::string name = arguments->Text();
    labels.emplace_back(std::move(name), arguments->Text());
  }
  std::optional<std::vector<double>> buckets;
  if (!arguments->TakeNone()) {
    const size_t bounds = arguments->List();
    buckets.emplace();
    for (size_t i = 0; i < bounds && arguments->ok(); ++i) buckets->push_back(arguments->Double());
  }
  AnswerNumber(transport_.get(), slot, metrics_.NewMetric(family, labels, buckets));
}

void Calls::ChangeMetric(CallKind call, ValueReader* arguments, uint32_t slot) {
  const uint64_t metric = arguments->Uint();
  if (call == CallKind::kMetricValue) {
    Result<double> value = metrics_.Value(metric);
    if (!value.ok()) return AnswerDone(transport_.get(), slot, value.error());
    ValueWriter writer;
    BeginAnswer(&writer);
    writer.Double(*value);
    return transport_->Answer(slot, writer);
  }
  const double number = arguments->Double();
  AnswerDone(transport_.get(), slot,
             call == CallKind::kMetricIncrement ? metrics_.Increment(metric, number)
             : call == CallKind::kMetricSet     ? metrics_.Set(metric, number)
                                                : metrics_.Observe(metric, number));
}

}  // namespace nereid_backend
