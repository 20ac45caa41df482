// SPDX-License-Identifier: Apache-2.0
#include "explain/records.h"

#include "api/json_members.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

ShownExecution ExecutionOf(const JsonValue& from) {
  ShownExecution execution;
  ReadMember(from, "instance", &execution.instance);
  ReadMember(from, "reason", &execution.reason);
  ReadMember(from, "number", &execution.number);
  ReadMember(from, "requests", &execution.requests);
  ReadMember(from, "units", &execution.units);
  ReadMember(from, "start_ns", &execution.start_ns);
  ReadMember(from, "end_ns", &execution.end_ns);
  ReadMember(from, "failed", &execution.failed);
  std::string thread;
  ReadMember(from, "thread", &thread);
  execution.by_caller = thread == "caller";
  ReadEach(from, "members", [&](const JsonValue& member) {
    if (const auto id = AsString(member); id.ok()) execution.members.emplace_back(*id);
  });
  return execution;
}

// `steps`: whether the steps of an ensemble are read, too; steps have none of their own.
ShownRequest RequestOf(const JsonValue& from, bool steps) {
  ShownRequest request;
  ReadMember(from, "id", &request.id);
  ReadMember(from, "model", &request.model);
  ReadMember(from, "version", &request.version);
  ReadMember(from, "outcome", &request.outcome);
  ReadMember(from, "sequence", &request.sequence);
  ReadMember(from, "instance", &request.instance);
  ReadMember(from, "batch", &request.batch);
  ReadMember(from, "start_ns", &request.start_ns);
  ReadMember(from, "latency_ns", &request.latency_ns);
  if (uint64_t slot = 0; FindMember(from, "sequence_slot") != nullptr) {
    ReadMember(from, "sequence_slot", &slot);
    request.sequence_slot = slot;
  }
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

}  // namespace

absl::StatusOr<std::vector<ShownRequest>> ReadRequests(absl::string_view json) {
  JsonTree tree;
  RETURN_IF_ERROR(ParseAnswer(json, "requests", &tree));
  std::vector<ShownRequest> requests;
  ReadEach(tree, "requests",
           [&](const JsonValue& request) { requests.push_back(RequestOf(request, true)); });
  return requests;
}

absl::StatusOr<ShownTimeline> ReadTimeline(absl::string_view json) {
  JsonTree tree;
  RETURN_IF_ERROR(ParseAnswer(json, "executions", &tree));
  ShownTimeline timeline;
  ReadMember(tree, "model", &timeline.model);
  ReadMember(tree, "version", &timeline.version);
  ReadMember(tree, "recording", &timeline.recording);
  ReadMember(tree, "now_ns", &timeline.now_ns);
  ReadEach(tree, "instances", [&](const JsonValue&) { ++timeline.instances; });
  ReadEach(tree, "executions",
           [&](const JsonValue& e) { timeline.executions.push_back(ExecutionOf(e)); });
  ReadEach(tree, "requests",
           [&](const JsonValue& r) { timeline.requests.push_back(RequestOf(r, false)); });
  return timeline;
}

}  // namespace nereid
