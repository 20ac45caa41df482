#include "replay/replay_command.h"

#include <absl/status/statusor.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <filesystem>
#include <fstream>
#include <ostream>

#include "base/status_macros.h"
#include "replay/replay_text.h"
#include "replay/virtual_replay.h"
#include "simulation/simulated_config.h"

namespace nereid {
namespace {

constexpr int kCannot = 1;
constexpr int kWrongOptions = 2;
constexpr char kConfigFile[] = "config.pbtxt";

struct ReplayRequest {
  std::string file, model, config;
  bool in_virtual_time = false, batches = false, json = false, help = false;
};

absl::StatusOr<ReplayRequest> Parse(const std::vector<std::string>& args) {
  ReplayRequest request;
  for (const std::string& arg : args) {
    absl::string_view value = arg;
    if (arg == "--help") {
      request.help = true;
      return request;
    }
    if (arg == "--virtual") {
      request.in_virtual_time = true;
    } else if (arg == "--batches") {
      request.batches = true;
    } else if (arg == "--json") {
      request.json = true;
    } else if (absl::ConsumePrefix(&value, "--model=")) {
      request.model = std::string(value);
    } else if (absl::ConsumePrefix(&value, "--config=")) {
      request.config = std::string(value);
    } else if (absl::StartsWith(arg, "-")) {
      return absl::InvalidArgumentError(absl::StrCat("unknown option ", arg));
    } else if (!request.file.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("one recording at a time, not also ", arg));
    } else {
      request.file = arg;
    }
  }
  if (request.file.empty()) return absl::InvalidArgumentError("the FILE of a recording is missing");
  if (!request.in_virtual_time) return absl::InvalidArgumentError("--virtual is missing");
  if (!request.config.empty() && std::filesystem::path(request.config).filename() != kConfigFile) {
    return absl::InvalidArgumentError(
        absl::StrCat("--config must name a file ", kConfigFile, ", not ", request.config));
  }
  return request;
}

// `wanted`: NAME or NAME:VERSION, or empty for the one with the most requests.
absl::StatusOr<const RecordedModel*> Choose(const Recording& recording, const std::string& wanted) {
  const RecordedModel* chosen = nullptr;
  for (const auto& [number, model] : recording.models) {
    const bool fits = wanted.empty() || wanted == model.name ||
                      wanted == absl::StrCat(model.name, ":", model.version);
    if (!fits) continue;
    if (chosen == nullptr || model.requests.size() > chosen->requests.size()) chosen = &model;
  }
  if (chosen != nullptr) return chosen;
  return absl::InvalidArgumentError(wanted.empty()
                                        ? "no model was recorded"
                                        : absl::StrCat("no model '", wanted, "' was recorded"));
}

absl::Status Replay(const ReplayRequest& request, std::ostream& out) {
  std::ifstream file(request.file, std::ios::binary);
  if (!file) return absl::NotFoundError("it cannot be read");
  ASSIGN_OR_RETURN(const Recording recording, ReadRecording(file));
  ASSIGN_OR_RETURN(const RecordedModel* const model, Choose(recording, request.model));
  absl::StatusOr<CompiledModel> config =
      request.config.empty()
          ? ModelFromJson(model->config)
          : ModelFromFolder(model->name,
                            std::filesystem::absolute(request.config).parent_path().string());
  RETURN_IF_ERROR(config.status());
  ASSIGN_OR_RETURN(const VirtualReplay replay,
                   ReplayVirtually(*model, *config,
                                   request.config.empty() ? Wakes::kAsRecorded : Wakes::kAtOnce));
  out << (request.json ? ReplayJson(*model, *config, replay) : ReplayText(*model, *config, replay));
  if (request.batches && !request.json) out << "\n" << BatchesText(replay.result);
  return absl::OkStatus();
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
  const absl::Status replayed = Replay(*request, out);
  if (replayed.ok()) return 0;
  err << "nereid replay: " << request->file << ": " << replayed.message() << "\n";
  return kCannot;
}

}  // namespace nereid
