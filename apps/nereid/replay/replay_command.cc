#include "replay/replay_command.h"

#include <absl/status/statusor.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <filesystem>
#include <fstream>
#include <ostream>

#include "base/status_macros.h"
#include "bench/live_line.h"
#include "bench/measuring_process.h"
#include "bench/option_table.h"
#include "bench/text_report.h"
#include "replay/live_replay.h"
#include "replay/live_replay_text.h"
#include "replay/replay_text.h"
#include "replay/virtual_replay.h"
#include "simulation/simulated_config.h"

namespace nereid {
namespace {

constexpr int kCannot = 1;
constexpr int kWrongOptions = 2;
constexpr double kLeastSpeed = 0.01;
constexpr double kMostSpeed = 1000;

struct ReplayRequest {
  std::string file, model, config;
  bool in_virtual_time = false, batches = false, json = false, help = false;
  double speed = 0;            // 0: not given, which means 1
  bench::BenchOptions server;  // of a replay against a server
};

std::vector<bench::Option> OptionsOf(ReplayRequest* r) {
  return {
      {"help", "", bench::Flag(&r->help)},
      {"virtual", "", bench::Flag(&r->in_virtual_time)},
      {"batches", "", bench::Flag(&r->batches)},
      {"json", "", bench::Flag(&r->json)},
      {"model", "VALUE", bench::Name("--model", &r->model)},
      {"config", "VALUE", bench::ConfigFile("--config", &r->config)},
      {"url", "VALUE", bench::Url(&r->server.target)},
      {"speed", "VALUE", bench::Number("--speed", &r->speed, {kLeastSpeed, kMostSpeed, false})},
      {"header", "VALUE", bench::Header(&r->server.headers)},
      {"shape", "VALUE", bench::InputShape(&r->server.inputs.shapes)},
      {"max-in-flight", "VALUE",
       bench::Whole("--max-in-flight", &r->server.max_in_flight, 1, bench::kMostConcurrency)},
  };
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
  const std::vector<bench::Option> options = OptionsOf(&request);
  for (const std::string& arg : args) {
    if (absl::StartsWith(arg, "-")) {
      RETURN_IF_ERROR(bench::SetOption(options, arg));
    } else if (!request.file.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("one recording at a time, not also ", arg));
    } else {
      request.file = arg;
    }
  }
  if (request.help) return request;
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

int ReplayCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<ReplayRequest> request = Parse(args);
  if (!request.ok()) {
    err << "nereid replay: " << request.status().message() << "\n" << kReplayUsage;
    return kWrongOptions;
  }
  if (request->help) {
    out << kReplayUsage;
    return 0;
  }
  const absl::Status replayed = Replay(*request, out, err);
  if (replayed.ok()) return 0;
  err << "nereid replay: " << request->file << ": " << replayed.message() << "\n";
  return kCannot;
}

}  // namespace nereid
