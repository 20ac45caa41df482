// SPDX-License-Identifier: Apache-2.0
// nereid: the server program. Reads the command line, starts the server and its ports, and waits
// for a signal to stop.
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/caught.h"
#include "base/crash_context.h"
#include "base/installation.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/threads/thread.h"
#include "base/version.h"
#include "bound_ports.h"
#include "commands.h"
#include "descriptors.h"
#include "exit_watchdog.h"
#include "filesystem/local_file_system.h"
#include "flags/cloud_environment.h"
#include "flags/command_line.h"
#include "flags/trace_environment.h"
#include "huge_pages/huge_page_thread.h"
#include "huge_pages/process_memory.h"
#include "memory_limit.h"
#include "options/help_text.h"
#include "options/parse.h"
#include "server/server.h"
#include "service_manager.h"
#include "services.h"
#include "settings.h"
#include "signals.h"
#include "what_to_serve.h"
#include "workshop.h"

namespace nereid {
namespace {

// Scripts expect Triton's name and version in the server's metadata, and empty answers of
// health routes.
constexpr char kOriginalProgram[] = "tritonserver";
constexpr char kOriginalId[] = "triton";
constexpr char kOriginalVersion[] = "2.73.0";

// Triton copies models from S3 there, too.
constexpr char kCloudCopiesVariable[] = "TRITON_AWS_MOUNT_DIRECTORY";

// The folder of all `kind`s of the installation that this program belongs to.
std::string DefaultDirectory(const std::string& kind) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? kind : InstalledFolder(program, kind).string();
}

Settings DefaultSettings(const std::string& program) {
  Settings settings;
  settings.server.backend_directory = DefaultDirectory("backends");
  settings.server.cache_directory = DefaultDirectory("caches");
  settings.server.repoagent_directory = DefaultDirectory("repoagents");
  settings.server.cloud_program = DefaultDirectory("libexec") + "/nereid-cloud";
  const char* const copies = std::getenv(kCloudCopiesVariable);
  settings.server.cloud_copies_parent = copies == nullptr ? "" : copies;
  settings.server.server_version = kVersion;
  settings.server.log_tables = true;
  if (program == kOriginalProgram) {
    settings.server.server_id = kOriginalId;
    settings.server.server_version = kOriginalVersion;
    settings.http_health_body = HealthBody::kEmpty;
  }
  settings.server.hold_until_queued = HoldFromText(std::getenv("TRITONSERVER_DELAY_SCHEDULER"));
  settings.server.hold_until_backlogged =
      HoldFromText(std::getenv("TRITONSERVER_BACKLOG_DELAY_SCHEDULER"));
  if (const char* name = std::getenv("MODEL_NAME"); name != nullptr) {
    settings.server.single_model_name = name;
  }
  const Environment environment = [](const char* name) { return std::getenv(name); };
  settings.trace_environment = ReadTraceEnvironment(environment, &settings.trace.otlp);
  ReadCloudEnvironment(environment, &settings);
  const char* escape = std::getenv("TRITON_SERVER_ESCAPE_LOG_MESSAGES");
  if (escape != nullptr) {
    const std::string value = escape;
    settings.log.escape_messages = !(value == "0" || value == "false" || value == "FALSE");
  }
  return settings;
}

// The message of a process whose last steps take too long.
std::vector<std::string> LastSteps() {
  return {"a backend, a cache or a port takes too long to end"};
}

// How much longer than the exit time-out closing the ports, and the whole shutdown, may take.
constexpr Duration kPortsGrace = std::chrono::seconds(3);
constexpr Duration kExitGrace = kPortsGrace + Server::kStopGrace + std::chrono::seconds(1);
// And the writing of the last traces after it.
constexpr Duration kTracesGrace = std::chrono::seconds(3);

// Closes the ports. False if one of their threads hangs; the ports then stay as they are.
bool ClosePorts(Services* services, TimePoint deadline) {
  std::promise<void> end;
  std::future<void> ended = end.get_future();
  // Left running if it hangs, because the process will soon end.
  std::thread* thread = nullptr;
  try {
    thread = new std::thread(StartThread({.name = "closing ports"},
                                         [services, deadline, end = std::move(end)]() mutable {
                                           services->ClosePorts(deadline);
                                           end.set_value();
                                         }));
  } catch (const std::exception& e) {  // the watchdog ends the process if this hangs
    LOG_WARNING << "no thread to close the ports: " << e.what();
    services->ClosePorts(deadline);
    return true;
  }
  if (ended.wait_until(deadline + kPortsGrace) != std::future_status::ready) {
    LOG_ERROR << "a thread of the ports hangs: unloading the models all the same";
    return false;
  }
  thread->join();
  delete thread;
  return true;
}

// Lets the world see that the server is not ready any more, for as long as the command line says.
void BeLameDuck(const Settings& settings, Server* server) {
  if (settings.lame_duck == Duration::zero()) return;
  server->BeginLameDuck();
  LOG_INFO << "not ready from now on; stopping in "
           << std::chrono::duration_cast<std::chrono::seconds>(settings.lame_duck).count()
           << " s (--lame-duck-secs)";
  std::this_thread::sleep_for(settings.lame_duck);
}

// Writes or sends the last traces. False if that hangs.
bool EndTracing(const Clock& clock, Services* services) {
  if (services->EndTracing(clock.Now() + kTracesGrace)) return true;
  LOG_ERROR << "the last traces are lost: they take too long to be written";
  return false;
}

// How much longer than the exit time-out the whole shutdown may take.
Duration StopGrace(const Services& services) {
  return services.traces() ? kExitGrace + kTracesGrace : kExitGrace;
}

Duration ExitTimeout(const Settings& settings) {
  return std::chrono::seconds(settings.server.exit_timeout_secs);
}

// Ends the process at once, but for the last lines of the log.
[[noreturn]] void Leave(int exit_code) {
  Log::Flush();
#ifdef NEREID_COUNTS
  // The program and each library write what they counted among their last destructors.
  std::exit(exit_code);
#else
  _exit(exit_code);
#endif
}

// Ends server and ports. Returns the exit status; does not return if something hangs.
int Stop(const Settings& settings, Server* server, Services* services, ExitWatchdog* watchdog) {
  const Clock& clock = *server->clock();
  const TimePoint deadline = clock.Now() + ExitTimeout(settings);
  watchdog->Arm(deadline + StopGrace(*services), [server] { return server->Unfinished(); });
  // The ports stay open: probes see that the server is not ready, and live sequences continue.
  services->Announce();
  server->Drain(deadline);
  const bool closed = ClosePorts(services, deadline);
  const absl::Status stopped = server->StopBy(deadline);
  if (closed && stopped.ok()) {
    const bool rest_ended = services->EndRest();
    const bool traces_ended = EndTracing(clock, services);
    if (!rest_ended) {
      LOG_WARNING << "a request for administration, or a compression, hangs: exiting without it";
    }
    // What hangs still uses the server, so nothing may be destroyed.
    if (!rest_ended || !traces_ended) Leave(0);
    watchdog->Report(LastSteps);
    return 0;
  }
  // Threads that do not return still use the server and the ports, so nothing may be destroyed.
  if (!stopped.ok()) LOG_ERROR << stopped.message();
  (void)EndTracing(clock, services);
  Leave(1);
}

// If the machine lacks threads or memory, server and ports do not start, and report it.
absl::StatusOr<Server::Owner> CreateServer(const ServerOptions& options) try {
  return Server::Create(options);
} catch (...) {
  return CaughtStatus();
}

absl::Status StartServices(const Settings& settings, Services* services) try {
  return services->Start(settings);
} catch (...) {
  return CaughtStatus();
}

// The log may have been renamed.
void ReopenLog() {
  if (const absl::Status opened = Log::Reopen(); !opened.ok()) LOG_ERROR << opened.message();
}

// Returns the exit status.
int Serve(Settings settings, const ServiceManager& manager, ShutdownSignals* signals,
          ExitWatchdog* watchdog) {
  const bool has_files = !settings.log.file.empty() || !settings.access_log.file.empty();
  if (has_files) signals->OnHangup(&ReopenLog);
  // First, because nobody likes to wait for models only to hear that a port is taken.
  if (const absl::Status bound = BindPorts(&settings); !bound.ok()) {
    LOG_ERROR << bound.message();
    return 1;
  }
  manager.Loading();
  if (!settings.huge_pages) ForbidHugePages();  // before models start programs
  absl::StatusOr<Server::Owner> server = CreateServer(settings.server);
  if (!server.ok()) {
    const bool invalid = server.status().code() == absl::StatusCode::kInvalidArgument;
    LOG_ERROR << "error: creating server: " << (invalid ? "Invalid argument" : "Internal") << " - "
              << server.status().message();
    return 1;
  }
  std::unique_ptr<HugePageThread> huge_pages;
  if (settings.huge_pages) huge_pages = StartHugePageThread(Clock::Real());
  // A client may see the server ready, and stop it, before all services have started.
  signals->Serving();
  Services services(server->get());
  if (const absl::Status started = StartServices(settings, &services); !started.ok()) {
    LOG_ERROR << started.message();
    // Clients of a port that was opened may be served already.
    (void)Stop(settings, server->get(), &services, watchdog);
    return 1;
  }
  if (has_files) {
    signals->OnHangup([&services] {
      ReopenLog();
      services.ReopenAccessLog();
    });
  }
  manager.Ready();
  const int signal = signals->Wait();
  if (has_files) signals->OnHangup(&ReopenLog);
  LOG_INFO << "signal " << signal << " received: stopping";
  manager.Stopping(settings.lame_duck + ExitTimeout(settings) + StopGrace(services));
  BeLameDuck(settings, server->get());
  return Stop(settings, server->get(), &services, watchdog);
}

// Ends without running the destructors of static objects, of which loaded backends have many.
[[noreturn]] void EndNow(int exit_code) {
  std::cout.flush();
  std::cerr.flush();
  Leave(exit_code);
}

// What the service manager has set; children of this process must not speak in its name.
std::string TakeNotifySocket() {
  const char* const name = std::getenv("NOTIFY_SOCKET");
  std::string socket = name == nullptr ? "" : name;
  unsetenv("NOTIFY_SOCKET");
  return socket;
}

// Returns the exit status.
int RunCommand(const Command& command, const std::vector<std::string>& args, Settings settings) {
  if (command.in_workshop()) {
    std::vector<std::string> words = {command.name};
    words.insert(words.end(), args.begin(), args.end());
    return RunInWorkshop(words, std::cerr);
  }
  if (AsksForHelp(args)) {
    std::cout << CommandHelp(command.table());
    return 0;
  }
  // Lines of the log come from another thread: what a command says stays whole between them.
  setvbuf(stderr, nullptr, _IOLBF, BUFSIZ);
  std::cerr << std::nounitbuf;
  return command.run(args, std::move(settings), std::cout, std::cerr);
}

// Whether `word` may be a command that was mistyped, rather than a file.
bool LooksLikeCommand(const std::string& word) {
  return word[0] != '-' && std::all_of(word.begin(), word.end(),
                                       [](char c) { return absl::ascii_islower(c) || c == '-'; });
}

// Tells what is wrong with the command line, at its end. Returns the exit status.
int Refuse(const std::string& program, const std::vector<std::string>& args,
           const absl::Status& wrong) {
  if (absl::IsNotFound(wrong) && LooksLikeCommand(args[0])) {
    std::cerr << "Commands:\n"
              << CommandLines() << "\n"
              << program << ": '" << args[0] << "' is neither a command nor a file or folder"
              << MeantCommand(args[0]) << "\n`" << program << " --help` says how it is used.\n";
    return 1;
  }
  std::cerr << program << ": " << wrong.message() << "\n`" << program
            << (program == kOriginalProgram ? " --help` lists all options.\n"
                                            : " --help` says how it is used, `" + program +
                                                  " --help-all` lists all options.\n");
  return 1;
}

// Prints what the command line asks for, and returns the exit status. Nothing if it asks for a
// server.
std::optional<int> PrintTexts(const Settings& settings, const std::string& program) {
  if (settings.help && program != kOriginalProgram) {
    std::cout << ShortHelp();
  } else if (settings.help || settings.help_all) {
    std::cout << HelpText(program) << CommandsHelp(program);
  } else if (settings.help_markdown) {
    return RunInWorkshop({"--help-markdown"}, std::cerr);
  } else if (settings.version) {
    std::cout << "nereid " << kVersion << "\n";
  } else {
    return std::nullopt;
  }
  return 0;
}

// Says in the log what is served, where the command line alone does not tell it.
void LogWhatIsServed(const FileSystem& files, const WhatToServe& what,
                     const ServerOptions& options) {
  for (const std::string& sentence : what.sentences()) LOG_INFO << sentence;
  if (options.control_mode != ModelControlMode::kNone) return;
  for (const std::string& repository : options.model_repositories) {
    const std::string why = WhyNothingToServe(files, repository);
    if (!why.empty()) LOG_WARNING << why;
  }
}

int Main(int argc, char** argv) {
  const ServiceManager manager(TakeNotifySocket());
  const std::string program = std::filesystem::path(argv[0]).filename().string();
  // It takes the command lines of Triton, and no others.
  const bool drop_in = program == kOriginalProgram;
  Settings settings = DefaultSettings(program);
  std::vector<std::string> args(argv + 1, argv + argc);
  if (!drop_in) std::replace(args.begin(), args.end(), std::string("-h"), std::string("--help"));
  const Command* const command = args.empty() ? nullptr : FindCommand(args[0]);
  if (command != nullptr && !(drop_in && command->name == std::string("help"))) {
    EndNow(RunCommand(*command, {args.begin() + 1, args.end()}, std::move(settings)));
  }
  if (!drop_in && !args.empty() && args[0] == kServeCommand) args.erase(args.begin());
  const LocalFileSystem files;
  WhatToServe what(&files);
  const WordTaker take_word = [&what](const std::string& word, Settings* s) -> absl::Status {
    const bool loads_all = s->server.control_mode == ModelControlMode::kNone;
    ASSIGN_OR_RETURN(std::string repository, what.RepositoryOf(word, loads_all));
    s->server.model_repositories.insert(std::move(repository));
    return absl::OkStatus();
  };
  const absl::Status parsed = ParseCommandLine(args, &settings, drop_in ? nullptr : take_word);
  if (!parsed.ok()) return Refuse(program, args, parsed);
  if (const std::optional<int> status = PrintTexts(settings, program)) return *status;
  for (const std::string& deprecation : settings.deprecations) std::cerr << deprecation << "\n";
  if (const absl::Status configured = Log::Configure(settings.log); !configured.ok()) {
    std::cerr << program << ": " << configured.message() << "\n";
    return 1;
  }
  const char* const told = std::getenv(kMemoryLimitVariable);
  if (const absl::Status set = SetInFlightBytes("", told == nullptr ? "" : told, &settings);
      !set.ok()) {
    std::cerr << program << ": " << set.message() << "\n";
    return 1;
  }
  RaiseDescriptorLimit();
  ShutdownSignals signals;
  ExitWatchdog watchdog(Clock::Real(), &EndProcess);
  InstallCrashReporter();
  if (!settings.without_effect.empty()) {
    LOG_WARNING
        << "options without effect, because this server makes no such copies to and from GPUs: "
        << absl::StrJoin(settings.without_effect, " ");
  }
  LogWhatIsServed(files, what, settings.server);
  const int exit_code = Serve(std::move(settings), manager, &signals, &watchdog);
  what.Clear();
  // The threads of `signals` and `watchdog` still run, so neither object may be destroyed.
  EndNow(exit_code);
}

}  // namespace
}  // namespace nereid

int main(int argc, char** argv) { return nereid::Main(argc, argv); }
