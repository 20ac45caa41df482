// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include "flags/flag_table.h"
#include "options/flag_kinds.h"
#include "scheduling/dynamic/inline_policy.h"

namespace nereid {
namespace {

// The option's value is the inverse of the setting: true means that nothing is completed.
Flag StrictModelConfig(Settings* s) {
  bool* const complete = &s->server.auto_complete_config;
  return Deprecated(
      &s->deprecations, "--disable-auto-complete-config",
      {"strict-model-config", "<boolean>", *complete ? "false" : "true",
       "Deprecated: true is --disable-auto-complete-config.", [complete](absl::string_view value) {
         bool strict = false;
         const absl::Status status = ParseBool(value, &strict);
         if (status.ok()) *complete = !strict;
         return status;
       }});
}

}  // namespace

FlagGroup RepositoryFlags(Settings* s) {
  ServerOptions* const o = &s->server;
  return {
      "Model repository",
      {Usual(OfFolder(StringSetFlag("model-repository", &o->model_repositories,
                                    "Folder of models to serve. Needed, unless MODEL or DIR says "
                                    "what to serve; may be given several times."))),
       OfFolder(
           StringSetFlag("model-store", &o->model_repositories, "The same as --model-repository.")),
       BooleanFlag("exit-on-error", &o->exit_on_error,
                   "Exit when a model fails to load at the start."),
       SwitchFlag(
           "disable-auto-complete-config", [o] { o->auto_complete_config = false; },
           "Serve only models whose configuration is complete."),
       StrictModelConfig(s),
       BooleanFlag("strict-readiness", &o->strict_readiness,
                   "The server is ready only if all its models are."),
       Usual(ChoiceFlag(
           "model-control-mode", &o->control_mode,
           {{"none", ModelControlMode::kNone},
            {"poll", ModelControlMode::kPoll},
            {"explicit", ModelControlMode::kExplicit},
            {"ondemand", ModelControlMode::kOnDemand}},
           LetterCase::kDoesNotMatter,
           "Models to load: none (all at the start), poll (all, changes too), explicit "
           "(--load-model), ondemand (at a request). With poll, "
           "--repository-poll-secs counts; with explicit, clients load and unload models; with "
           "ondemand, --memory-budget and --idle-unload-secs say when models leave again.")),
       IntegerFlag("repository-poll-secs", &o->repository_poll_secs, {0, kMaxInt},
                   "Seconds between two looks at the repositories with --model-control-mode=poll. "
                   "0: none."),
       IntegerFlag("memory-budget", &o->memory_budget, {0, kMaxInt64},
                   "Bytes that models may take together with --model-control-mode=ondemand: for "
                   "another one the least recently used ones are unloaded, but none with requests "
                   "in flight. 0: no limit."),
       IntegerFlag("idle-unload-secs", &o->idle_unload_secs, {0, kMaxInt},
                   "With --model-control-mode=ondemand a model is unloaded when nobody has used it "
                   "for so many seconds. 0: never."),
       IntegerFlag("load-wait-secs", &o->load_wait_secs, {0, kMaxInt},
                   "With --model-control-mode=ondemand a request waits at most so many seconds for "
                   "its model to be loaded; then it gets 503 with Retry-After. 0: it gets that at "
                   "once."),
       WithDefaultText(
           "none: they are measured anew",
           OfFile(NonEmptyFlag("footprints-file", &o->footprints_file,
                               "--footprints-file can not be empty",
                               "File in which the footprints of models outlive the server with "
                               "--model-control-mode=ondemand."))),
       BooleanFlag("model-namespacing", &o->model_namespacing,
                   "Models of the same name in several repositories are different models."),
       Usual(StringSetFlag(
           "load-model", &o->startup_models,
           "Model to load at the start with --model-control-mode=explicit, or to keep loaded with "
           "ondemand; '*' alone: all. May be given several times.")),
       NonEmptyFlag("single-model-name", &o->single_model_name,
                    "--single-model-name can not be empty",
                    "Name of the model if --model-repository is the folder of one model: it holds "
                    "config.pbtxt or versions, and no model's folder. Without it MODEL_NAME of "
                    "the environment, the name in config.pbtxt, or that of the folder."),
       NonEmptyFlag("model-config-name", &o->model_config_name,
                    "Error: empty argument for --model-config-name",
                    "Use configs/<name>.pbtxt of a model instead of its config.pbtxt, where it "
                    "exists."),
       WithDefaultText("../lib/nereid/repoagents or ../repoagents beside the executable",
                       OfFolder(NonEmptyFlag("repoagent-directory", &o->repoagent_directory,
                                             "--repoagent-directory can not be empty",
                                             "Folder of repository agents: "
                                             "<name>/libtritonrepoagent_<name>.so."))),
       WithDefaultText(
           "none: a folder of this process in $TRITON_AWS_MOUNT_DIRECTORY or $TMPDIR",
           OfFolder(NonEmptyFlag("cloud-cache-directory", &o->cloud_cache_directory,
                                 "--cloud-cache-directory can not be empty",
                                 "Folder in which copies of files in cloud storage outlive the "
                                 "server."))),
       IntegerFlag("cloud-cache-bytes", &o->cloud_cache_bytes, {0, kMaxInt64},
                   "Bytes of copies of files in cloud storage that are kept; those of models that "
                   "serve always are."),
       IntegerFlag("cloud-timeout-secs", &o->cloud_timeout_secs, {1, 3600},
                   "Seconds that cloud storage may be silent before a request of it fails."),
       IntegerFlag("model-load-thread-count", &o->model_load_threads, {1, 1024},
                   "Models loaded at a time."),
       IntegerFlag("model-load-retry-count", &o->model_load_retries, {0, kMaxInt},
                   "Further attempts when a load fails."),
       WithDefaultText(
           absl::StrCat(InlinePolicy::DefaultLimit(2) / std::chrono::microseconds(1), ", or ",
                        InlinePolicy::DefaultLimit(1) / std::chrono::microseconds(1),
                        " if the server may use only one processor"),
           IntegerFlag("inline-execution-max-us", &o->inline_execution_max_us, {0, 10'000},
                       "I/O threads execute models by themselves whose executions are known to "
                       "take at most so many microseconds; 0: never."))}};
}

}  // namespace nereid
