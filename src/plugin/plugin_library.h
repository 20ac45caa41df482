// SPDX-License-Identifier: Apache-2.0
// PluginLibrary: a shared object of somebody else's, which has functions for us to call: a backend,
// a library for custom batching, a response cache, a repository agent. CallPlugin: the way into
// one.
#ifndef NEREID_PLUGIN_PLUGIN_LIBRARY_H_
#define NEREID_PLUGIN_PLUGIN_LIBRARY_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/crash_context.h"
#include "base/export.h"
#include "base/shared_library.h"
#include "c_objects/error.h"

namespace nereid {

// Runs `call`, which calls `function` of the plug-in `name` and returns its TRITONSERVER_Error*.
// The plug-in's own error is passed on unchanged; no exception gets out, but becomes INTERNAL with
// `kind`, `name`, `function` and, unless it is empty, `model`. While it runs, the message of a
// crash and the log say where the thread is. The texts outlive the call. Thread-safe if the plug-in
// is.
template <typename Call>
absl::Status CallPlugin(const char* kind, const std::string& name, const std::string& model,
                        const char* function, const Call& call) noexcept;

// Immutable after Open.
class NEREID_API PluginLibrary {
 public:
  enum class Open {
    kInPlace,
    // A copy, unlinked at once: the next load takes the file as it is then, and overwriting the
    // file does not change running code.
    kPrivateCopy,
  };

  // Opens the library at `path`. `kind` is what it has to be, a noun for messages, and outlives the
  // object: "cache". Errors name kind and name.
  static absl::StatusOr<std::unique_ptr<PluginLibrary>> Load(const char* kind, std::string name,
                                                             const std::string& path,
                                                             Open how = Open::kInPlace);
  // `directory`/`name`/`file`, if that is a file, and if `name`, which may be a client's, does not
  // lead out of the directory.
  static std::optional<std::string> Find(const std::string& directory, const std::string& name,
                                         const std::string& file);

  const std::string& name() const { return name_; }
  const std::string& path() const { return library_->path(); }
  const SharedLibrary& library() const { return *library_; }

  // Whether the library exports `symbol` itself; stores its address, or null.
  template <typename Function>
  bool Get(const char* symbol, Function* function) const {
    *function = library_->Function<Function>(symbol);
    return *function != nullptr;
  }
  // INVALID_ARGUMENT with the symbol if the library does not export it.
  template <typename Function>
  absl::Status Require(const char* symbol, Function* function) const {
    return Get(symbol, function) ? absl::OkStatus() : Lacks(symbol);
  }
  bool Exports(const char* symbol) const { return library_->Find(symbol) != nullptr; }

  // CallPlugin for this library.
  template <typename Call>
  absl::Status Run(const char* function, const Call& call) const noexcept {
    return CallPlugin(kind_, name_, "", function, call);
  }
  // The same for the last function, whose error nobody waits for: it is logged.
  template <typename Call>
  void Finalize(const char* function, const Call& call) const noexcept {
    LogFailedEnd(Run(function, call));
  }

 private:
  PluginLibrary(const char* kind, std::string name, std::unique_ptr<SharedLibrary> library)
      : kind_(kind), name_(std::move(name)), library_(std::move(library)) {}
  absl::Status Lacks(const char* symbol) const;
  void LogFailedEnd(const absl::Status& status) const noexcept;

  const char* const kind_;
  const std::string name_;
  const std::unique_ptr<SharedLibrary> library_;
};

namespace plugin_internal {

// For the exception being handled; without a text if memory is exhausted.
NEREID_API absl::Status Threw(const char* kind, const std::string& name, const std::string& model,
                              const char* function, const char* text) noexcept;

}  // namespace plugin_internal

template <typename Call>
absl::Status CallPlugin(const char* kind, const std::string& name, const std::string& model,
                        const char* function, const Call& call) noexcept {
  const CrashContext context(kind, name.c_str(), model.c_str(), function);
  try {
    return TakeCError(call());
  } catch (const std::exception& e) {
    return plugin_internal::Threw(kind, name, model, function, e.what());
  } catch (...) {
    return plugin_internal::Threw(kind, name, model, function, nullptr);
  }
}

}  // namespace nereid

#endif  // NEREID_PLUGIN_PLUGIN_LIBRARY_H_
