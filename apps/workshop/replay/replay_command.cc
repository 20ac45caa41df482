// SPDX-License-Identifier: Apache-2.0
#include "replay/replay_command.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <filesystem>
#include <fstream>
#include <ostream>

#include "base/status_macros.h"
#include "bench/live_line.h"
#include "bench/load_flags.h"
#include "bench/measuring_process.h"
#include "bench/text_report.h"
#include "options/command_flags.h"
#include "options/flag_kinds.h"
#include "options/parse.h"
#include "replay/live_replay.h"
#include "replay/live_replay_text.h"
#include "replay/replay_text.h"
#include "replay/virtual_replay.h"
#include "simulation/simulated_config.h"

namespace nereid {
namespace {

constexpr int kCannot = 1;
constexpr double kLeastSpeed = 0.01;
constexpr double kMostSpeed = 1000;

struct ReplayRequest {
  ReplayRequest() { server.target.host.clear(); }

  std::string file, model, config;
  bool in_virtual_time = false, batches = false, json = false;
  double speed = 0;            // 0: not given, which means 1
  bench::BenchOptions server;  // of a replay against a server; without a host there is none
};

CommandTable TableFor(ReplayRequest* r) {
  CommandTable table;
  table.name = "replay";
  table.summary = "play a recording back, in virtual time or against a server";
  table.synopsis = "FILE --virtual|--url=URL [options]";
  table.description = {
      "With --virtual, runs the requests of a recording (nereid --record=FILE) through the real "
      "scheduler in virtual time, with the recorded arrivals and execution times, and says how "
      "many "
      "of the recorded batches are reproduced, and where the first difference is. No server is "
      "needed, and no model is loaded. The response cache, the rate limiter and a model's own "
      "batching take no part; where they did in the recording, the answer says so.",
      "With --url, sends them to a running server at the recorded times, and compares the "
      "latencies. Inputs that were not recorded are made up, with the recorded batch sizes."};
  table.flags = {
      TurnOnFlag("virtual", &r->in_virtual_time, "in virtual time"),
      UrlFlag(&r->server.target, "",
              "http://HOST:PORT, or with https, grpc or grpcs; certificates are not verified"),
      WithDefaultText("the one with the most requests", NameFlag("model", &r->model, "the model")),
      ConfigFileFlag("config", &r->config,
                     "--virtual: a config.pbtxt to use instead of the recorded configuration"),
      TurnOnFlag("batches", &r->batches, "--virtual: print every simulated batch, a line each"),
      WithDefaultText("1", NumberFlag("speed", "X", &r->speed, {kLeastSpeed, kMostSpeed, false},
                                      "--url: X times as fast as recorded")),
      HeaderFlag(&r->server.headers),
      ShapeFlag(&r->server.inputs.shapes,
                "--url: shape of an input that may have any, without the batch dimension; may be "
                "repeated"),
      WholeFlag("max-in-flight", &r->server.max_in_flight, 1, bench::kMostConcurrency,
                "--url: requests in flight at most"),
      TurnOnFlag("json", &r->json, "print JSON"),
  };
  table.flags[2].argument = "NAME[:VERSION]";
  table.argument = {"FILE", StoreIn(&r->file)};
  table.exit_status =
      "0: replayed; 1: the recording cannot be replayed, or no request was answered; 2: wrong "
      "options.";
  return table;
}

absl::Status Check(const ReplayRequest& request) {
  const bool live = !request.server.target.host.empty();
  if (request.file.empty()) return absl::InvalidArgumentError("the FILE of a recording is missing");
  if (live == request.in_virtual_time) {
    return absl::InvalidArgumentError(
        live ? "--virtual and --url exclude each other: in virtual time no server is needed"
             : "--virtual is missing, or --url=URL of a server");
  }
  if (live && (request.batches || !request.config.empty())) {
    return absl::InvalidArgumentError("--batches and --config have a meaning only with --virtual");
  }
  const bench::BenchOptions& server = request.server;
  if (!live && (request.speed > 0 || !server.headers.empty() || !server.inputs.shapes.empty() ||
                server.max_in_flight != bench::BenchOptions().max_in_flight)) {
    return absl::InvalidArgumentError(
        "--speed, --header, --shape and --max-in-flight have a meaning only with --url");
  }
  return absl::OkStatus();
}

absl::StatusOr<ReplayRequest> Parse(const std::vector<std::string>& args) {
  ReplayRequest request;
  RETURN_IF_ERROR(ParseCommandArguments(TableFor(&request), args));
  RETURN_IF_ERROR(Check(request));
  return request;
}

absl::Status ReplayInVirtualTime(const ReplayRequest& request, const RecordedModel& model,
                                 std::ostream& out) {
  absl::StatusOr<CompiledModel> config =
      request.config.empty()
          ? ModelFromJson(model.config)
          : ModelFromFolder(model.name,
                            std::filesystem::absolute(request.config).parent_path().string());
  RETURN_IF_ERROR(config.status());
  ASSIGN_OR_RETURN(const VirtualReplay replay,
                   ReplayVirtually(model, *config,
                                   request.config.empty() ? Wakes::kAsRecorded : Wakes::kAtOnce));
  out << (request.json ? ReplayJson(model, *config, replay) : ReplayText(model, *config, replay));
  if (request.batches && !request.json) out << "\n" << BatchesText(replay.result);
  return absl::OkStatus();
}

absl::Status ReplayAgainstServer(const ReplayRequest& request, const RecordedModel& model,
                                 std::ostream& out, std::ostream& err) {
  bench::PrepareToMeasure();
  bench::LiveLine line(err);
  const absl::StatusOr<LiveReplay> replay = ReplayLive(
      model, request.server, request.speed > 0 ? request.speed : 1,
      [] { return bench::Interrupted(); },
      [&line](const bench::RowResult& row) { line.Show(bench::LiveText(row)); });
  line.Show("");
  if (!replay.ok()) {
    return absl::Status(replay.status().code(),
                        absl::StrCat(request.server.target.Url(), ": ", replay.status().message()));
  }
  out << (request.json ? LiveReplayJson(model, request.server, *replay)
                       : LiveReplayText(model, request.server, *replay));
  if (!replay->now.failed()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(request.server.target.Url(), ": no request had a success"));
}

absl::Status Replay(const ReplayRequest& request, std::ostream& out, std::ostream& err) {
  std::ifstream file(request.file, std::ios::binary);
  if (!file) return absl::NotFoundError("it cannot be read");
  ASSIGN_OR_RETURN(const Recording recording,
                   ReadRecording(file, /*with_inputs=*/!request.in_virtual_time));
  ASSIGN_OR_RETURN(const RecordedModel* const model, ChooseRecorded(recording, request.model));
  return request.in_virtual_time ? ReplayInVirtualTime(request, *model, out)
                                 : ReplayAgainstServer(request, *model, out, err);
}

}  // namespace

CommandTable ReplayTable() { return DescribedBy(&TableFor); }

int ReplayCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<ReplayRequest> request = Parse(args);
  if (!request.ok()) return WrongCommandLine("replay", request.status(), err);
  const absl::Status replayed = Replay(*request, out, err);
  if (replayed.ok()) return 0;
  err << "nereid replay: " << request->file << ": " << replayed.message() << "\n";
  return kCannot;
}

}  // namespace nereid
