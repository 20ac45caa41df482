// SPDX-License-Identifier: Apache-2.0
#include "tune/private_server.h"

#include <absl/algorithm/container.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <utility>

#include "apps/loadgen/cpu_time.h"
#include "backend_check/trial_files.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "bench/measuring_process.h"
#include "bench/tensor_file.h"

namespace nereid {
namespace {

namespace fs = std::filesystem;

constexpr char kAddress[] = "127.0.0.1";
constexpr char kStarted[] = "Started HTTPService at 127.0.0.1:";
constexpr char kFailedToLoad[] = "failed to load '";
constexpr std::chrono::minutes kMostLoading{10};
constexpr std::chrono::seconds kMostEnding{10};
constexpr useconds_t kLookUs = 10'000;
constexpr size_t kMostLogBytes = 16 << 20;

std::string LogText(const std::string& file) {
  return bench::ReadWholeFile(file, kMostLogBytes).value_or("");
}

std::optional<int> PortIn(const std::string& log) {
  const size_t at = log.find(kStarted);
  if (at == std::string::npos) return std::nullopt;
  absl::string_view digits = absl::string_view(log).substr(at + sizeof kStarted - 1);
  const size_t end = digits.find_first_not_of("0123456789");
  int port = 0;
  // Without anything behind them, digits may be missing.
  if (end == absl::string_view::npos || !absl::SimpleAtoi(digits.substr(0, end), &port)) {
    return std::nullopt;
  }
  return port;
}

}  // namespace

std::string LoadErrorOf(const std::string& log) {
  std::string found;
  for (const absl::string_view line : absl::StrSplit(log, '\n', absl::SkipWhitespace())) {
    const size_t text = line.find("] ");
    if (!absl::StartsWith(line, "E") || text == absl::string_view::npos) continue;
    absl::string_view message = line.substr(text + 2);
    if (absl::ConsumePrefix(&message, "\"")) absl::ConsumeSuffix(&message, "\"");
    // What comes after it says less.
    if (absl::StartsWith(found, kFailedToLoad)) break;
    found = std::string(message);
  }
  return found;
}

absl::StatusOr<std::unique_ptr<PrivateServer>> PrivateServer::Start(
    const PrivateModel& model, const std::vector<ConfigText>& configs,
    const std::function<bool()>& interrupted) {
  ASSIGN_OR_RETURN(std::unique_ptr<TempDirectory> folder, TempDirectory::Make());
  std::unique_ptr<PrivateServer> server(new PrivateServer(std::move(folder)));
  RETURN_IF_ERROR(server->WriteFiles(model, configs));
  RETURN_IF_ERROR(server->Launch(model));
  RETURN_IF_ERROR(server->AwaitPort(model, interrupted));
  return server;
}

absl::Status PrivateServer::WriteFiles(const PrivateModel& model,
                                       const std::vector<ConfigText>& configs) {
  const auto is_changed = [&configs](const std::string& name) {
    return absl::c_any_of(configs, [&](const ConfigText& config) { return config.model == name; });
  };
  std::error_code error;
  fs::create_directories(repository(), error);
  std::vector<std::string> links = model.load_models;
  links.push_back(model.name);
  for (const std::string& name : links) {
    if (error) break;
    if (is_changed(name)) continue;
    fs::create_directory_symlink(fs::absolute(model.repository + "/" + name),
                                 fs::path(repository()) / name, error);
  }
  for (const ConfigText& config : configs) {
    const fs::path copy = fs::path(repository()) / config.model;
    if (!error) fs::create_directory(copy, error);
    if (error) break;
    RETURN_IF_ERROR(LinkModelFiles(fs::absolute(config.folder).string(), copy.string()));
    if (config.text.empty()) continue;
    RETURN_IF_ERROR(bench::WriteReport((copy / "config.pbtxt").string(), config.text));
  }
  if (!error) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("no private folder: ", error.message()));
}

absl::Status PrivateServer::Launch(const PrivateModel& model) {
  std::vector<std::string> command = {
      model.program,
      absl::StrCat("--model-repository=", repository()),
      "--model-control-mode=explicit",
      absl::StrCat("--load-model=", model.name),
      absl::StrCat("--http-address=", kAddress),
      "--http-port=0",
      "--allow-grpc=false",
      "--allow-metrics=false",
  };
  for (const std::string& other : model.load_models) {
    command.push_back(absl::StrCat("--load-model=", other));
  }
  command.insert(command.end(), model.options.begin(), model.options.end());
  const int log = open(log_file().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) return absl::InternalError(absl::StrCat("cannot write '", log_file(), "'"));
  auto process = ChildProcess::Start(command, {{log, STDOUT_FILENO}, {log, STDERR_FILENO}});
  close(log);
  RETURN_IF_ERROR(process.status());
  process_ = *std::move(process);
  return absl::OkStatus();
}

absl::Status PrivateServer::AwaitPort(const PrivateModel& model,
                                      const std::function<bool()>& interrupted) {
  Clock* const clock = Clock::Real();
  const TimePoint give_up = clock->Now() + kMostLoading;
  while (clock->Now() < give_up) {
    if (interrupted()) return absl::CancelledError("interrupted");
    const bool ended = process_->Ended().has_value();
    const std::string log = LogText(log_file());
    if (const std::optional<int> port = PortIn(log); port.has_value() && !ended) {
      target_ = {ProbeProtocol::kHttp, false, kAddress, *port};
      return absl::OkStatus();
    }
    if (ended) {
      return absl::FailedPreconditionError(absl::StrCat("the private server of '", model.name,
                                                        "' does not start: ", LoadErrorOf(log)));
    }
    usleep(kLookUs);
  }
  return absl::DeadlineExceededError(absl::StrCat(
      "the model '", model.name, "' was not loaded within ", kMostLoading.count(), " minutes"));
}

PrivateServer::~PrivateServer() {
  if (process_ == nullptr) return;
  process_->Signal(SIGTERM);
  Clock* const clock = Clock::Real();
  const TimePoint give_up = clock->Now() + kMostEnding;
  while (!process_->Ended().has_value() && clock->Now() < give_up) usleep(kLookUs);
}

double PrivateServer::CpuSeconds() const {
  double seconds = 0;
  for (const int pid : process_->Processes()) seconds += bench::CpuSecondsOf(pid).value_or(0);
  return seconds;
}

double PrivateServer::MemoryMib() const {
  return static_cast<double>(process_->MemoryBytes()) / (1 << 20);
}

}  // namespace nereid
