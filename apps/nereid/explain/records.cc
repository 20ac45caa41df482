#include "explain/records.h"

#include "base/status_macros.h"
#include "frontends/codec/json_access.h"
#include "frontends/codec/json_parse.h"

namespace nereid {
namespace {

constexpr int kMostDepth = 16;

// Members that are missing leave the value as it is: a newer server may leave some out.
void Read(const JsonValue& from, const char* name, std::string* to) {
  const JsonValue* const member = FindMember(from, name);
  if (member == nullptr) return;
  if (const auto text = AsString(*member); text.ok()) *to = std::string(*text);
}

void Read(const JsonValue& from, const char* name, uint64_t* to) {
  const JsonValue* const member = FindMember(from, name);
  if (member == nullptr) return;
  if (const auto number = AsUint(*member); number.ok()) *to = *number;
}

void Read(const JsonValue& from, const char* name, bool* to) {
  const JsonValue* const member = FindMember(from, name);
  if (member == nullptr) return;
  if (const auto truth = AsBool(*member); truth.ok()) *to = *truth;
}

// Calls `read` with each element of the array `name`.
template <class Function>
void ReadEach(const JsonValue& from, const char* name, Function read) {
  const JsonValue* const array = FindMember(from, name);
  if (array == nullptr || !array->IsArray()) return;
  for (const JsonValue& element : array->GetArray()) read(element);
}

ShownExecution ExecutionOf(const JsonValue& from) {
  ShownExecution execution;
  Read(from, "instance", &execution.instance);
  Read(from, "reason", &execution.reason);
  Read(from, "number", &execution.number);
  Read(from, "requests", &execution.requests);
  Read(from, "units", &execution.units);
  Read(from, "start_ns", &execution.start_ns);
  Read(from, "end_ns", &execution.end_ns);
  Read(from, "failed", &execution.failed);
  std::string thread;
  Read(from, "thread", &thread);
  execution.by_caller = thread == "caller";
  ReadEach(from, "members", [&](const JsonValue& member) {
    if (const auto id = AsString(member); id.ok()) execution.members.emplace_back(*id);
  });
  return execution;
}

// `steps`: whether the steps of an ensemble are read, too; steps have none of their own.
ShownRequest RequestOf(const JsonValue& from, bool steps) {
  ShownRequest request;
  Read(from, "id", &request.id);
  Read(from, "model", &request.model);
  Read(from, "version", &request.version);
  Read(from, "outcome", &request.outcome);
  Read(from, "start_ns", &request.start_ns);
  Read(from, "latency_ns", &request.latency_ns);
  if (const JsonValue* const phases = FindMember(from, "phases_ns");
      phases != nullptr && phases->IsObject()) {
    for (const auto& phase : phases->GetObject()) {
      const auto ns = AsUint(phase.value);
      if (ns.ok()) request.phases_ns.emplace_back(phase.name.GetString(), *ns);
    }
  }
  if (const JsonValue* const execution = FindMember(from, "execution")) {
    request.execution = ExecutionOf(*execution);
  }
  if (steps) {
    ReadEach(from, "steps",
             [&](const JsonValue& step) { request.steps.push_back(RequestOf(step, false)); });
  }
  return request;
}

absl::Status Parse(absl::string_view json, const char* member, rapidjson::Document* tree) {
  RETURN_IF_ERROR(ParseJson(json, kMostDepth, tree));
  const JsonValue* const found = FindMember(*tree, member);
  if (found == nullptr) {
    return absl::InvalidArgumentError("the answer is not one of /v2/nereid");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ShownRequest>> ReadRequests(absl::string_view json) {
  rapidjson::Document tree;
  RETURN_IF_ERROR(Parse(json, "requests", &tree));
  std::vector<ShownRequest> requests;
  ReadEach(tree, "requests",
           [&](const JsonValue& request) { requests.push_back(RequestOf(request, true)); });
  return requests;
}

absl::StatusOr<ShownTimeline> ReadTimeline(absl::string_view json) {
  rapidjson::Document tree;
  RETURN_IF_ERROR(Parse(json, "executions", &tree));
  ShownTimeline timeline;
  Read(tree, "model", &timeline.model);
  Read(tree, "version", &timeline.version);
  Read(tree, "recording", &timeline.recording);
  ReadEach(tree, "instances", [&](const JsonValue&) { ++timeline.instances; });
  ReadEach(tree, "executions",
           [&](const JsonValue& e) { timeline.executions.push_back(ExecutionOf(e)); });
  ReadEach(tree, "requests",
           [&](const JsonValue& r) { timeline.requests.push_back(RequestOf(r, false)); });
  return timeline;
}

std::string ReadError(absl::string_view json) {
  rapidjson::Document tree;
  if (!ParseJson(json, kMostDepth, &tree).ok()) return "";
  std::string error;
  Read(tree, "error", &error);
  return error;
}

}  // namespace nereid
