// SPDX-License-Identifier: Apache-2.0
#include "top/live_answer.h"

#include "api/json_members.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

LiveGpuAnswer GpuOf(const JsonValue& from) {
  LiveGpuAnswer gpu;
  ReadMember(from, "id", &gpu.id);
  ReadMember(from, "memory_bytes", &gpu.memory_bytes);
  ReadMember(from, "utilization", &gpu.utilization);
  ReadMember(from, "memory_used_bytes", &gpu.memory_used_bytes);
  gpu.failed = FindMember(from, "failure") != nullptr;
  return gpu;
}

LiveServerAnswer ServerOf(const JsonValue& from) {
  LiveServerAnswer server;
  ReadMember(from, "name", &server.name);
  ReadMember(from, "version", &server.version);
  ReadMember(from, "uptime_ns", &server.uptime_ns);
  ReadMember(from, "in_flight", &server.in_flight);
  ReadMember(from, "succeeded", &server.succeeded);
  ReadMember(from, "failed", &server.failed);
  ReadMember(from, "queued", &server.queued);
  ReadEach(from, "gpus", [&](const JsonValue& gpu) { server.gpus.push_back(GpuOf(gpu)); });
  return server;
}

LiveModelAnswer ModelOf(const JsonValue& from) {
  LiveModelAnswer model;
  ReadMember(from, "name", &model.name);
  ReadMember(from, "version", &model.version);
  ReadMember(from, "state", &model.state);
  ReadMember(from, "reason", &model.reason);
  ReadMember(from, "memory_bytes", &model.memory_bytes);
  model.serves = FindMember(from, "succeeded") != nullptr;
  ReadMember(from, "queued", &model.queued);
  ReadMember(from, "in_flight", &model.in_flight);
  ReadMember(from, "instances", &model.instances);
  ReadMember(from, "busy_ns", &model.busy_ns);
  ReadMember(from, "succeeded", &model.succeeded);
  ReadMember(from, "failed", &model.failed);
  ReadMember(from, "batch_sizes", &model.batch_sizes);
  const JsonValue* const recent = FindMember(from, "recent");
  if (recent == nullptr) return model;
  ReadMember(*recent, "reasons", &model.reasons);
  if (const JsonValue* const phases = FindMember(*recent, "phases_ns");
      phases != nullptr && phases->IsObject()) {
    for (const auto& phase : phases->GetObject()) {
      const char* const name = phase.name.GetString();
      ReadMember(*phases, name, &model.phases_ns[name]);
    }
  }
  return model;
}

}  // namespace

absl::StatusOr<LiveAnswer> ReadLive(absl::string_view json) {
  JsonTree tree;
  RETURN_IF_ERROR(ParseAnswer(json, "server", &tree));
  LiveAnswer answer;
  ReadMember(tree, "now_ns", &answer.now_ns);
  ReadMember(tree, "not_shown", &answer.not_shown);
  answer.server = ServerOf(*FindMember(tree, "server"));
  ReadEach(tree, "models",
           [&](const JsonValue& model) { answer.models.push_back(ModelOf(model)); });
  return answer;
}

}  // namespace nereid
