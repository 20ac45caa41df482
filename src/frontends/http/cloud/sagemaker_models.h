// SPDX-License-Identifier: Apache-2.0
// SagemakerModels: the models that SageMaker has loaded into a multi-model endpoint, by its names
// for them. Thread-safe. Shared with the answers under way.
//
// Each model is an archive that the platform has unpacked into a folder; the folder becomes a model
// repository while the model is loaded.
#ifndef NEREID_FRONTENDS_HTTP_CLOUD_SAGEMAKER_MODELS_H_
#define NEREID_FRONTENDS_HTTP_CLOUD_SAGEMAKER_MODELS_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "frontends/codec/sagemaker_request.h"
#include "frontends/http/http_message.h"
#include "server/server.h"

namespace nereid {

class SagemakerModels : public std::enable_shared_from_this<SagemakerModels> {
 public:
  // More are refused, as if there were no memory for them.
  static constexpr size_t kMostModels = 10'000;

  // `server` must outlive the object.
  explicit SagemakerModels(Server* server) : server_(server) {}

  // {"models":[{"modelName":...,"modelUrl":...}]}: those that are ready.
  HttpResponse List() const ABSL_LOCKS_EXCLUDED(mu_);
  // One of them, or 404.
  HttpResponse Get(const std::string& name) const ABSL_LOCKS_EXCLUDED(mu_);
  // By which name the server has the model; nothing if it is not loaded.
  std::optional<std::string> FindTarget(const std::string& name) const ABSL_LOCKS_EXCLUDED(mu_);

  // Loads as `target` what `load` says, and answers: 409 if there is such a model, 507 if the
  // memory does not suffice, which has the platform unload others. Reads the file system. A
  // `client` that leaves before the load has begun has never asked for it.
  void Load(const SagemakerLoad& load, const std::string& target,
            std::shared_ptr<ControlClient> client, HttpResponder responder)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Unloads the model and, of an ensemble, its members, and answers when they are gone, because
  // the platform counts on their memory then. `client`: as for Load.
  void Unload(const std::string& name, std::shared_ptr<ControlClient> client,
              HttpResponder responder) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  enum class State : uint8_t { kLoading, kReady, kUnloading };
  struct Model {
    std::string url;
    std::string target;
    std::string repository;  // empty while it is being found
    State state = State::kLoading;
  };

  // A model that is unloaded and may still have requests.
  struct Unloading {
    std::string name;
    std::string target;
    TimePoint deadline;
    HttpResponder answer;
  };

  // Takes the name for a model that is about to be loaded; a refusal if that cannot be.
  std::optional<HttpResponse> Reserve(const SagemakerLoad& load, const std::string& target)
      ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Register(const SagemakerLoad& load, const std::string& target)
      ABSL_LOCKS_EXCLUDED(mu_);
  HttpResponse EndLoad(const std::string& name, const absl::Status& loaded)
      ABSL_LOCKS_EXCLUDED(mu_);
  HttpResponse EndUnload(const std::string& name, const absl::Status& unloaded)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Answers when the model is gone: has one thread look for all that are being unloaded.
  void AnswerWhenGone(Unloading unloading) ABSL_LOCKS_EXCLUDED(mu_);
  void Watch() ABSL_LOCKS_EXCLUDED(mu_);
  // Takes those out that are gone or have had too long.
  std::list<Unloading> TakeGone(std::list<Unloading>* unloading) const;
  void Answer(Unloading* unloading) ABSL_LOCKS_EXCLUDED(mu_);

  Server* const server_;
  mutable Mutex mu_;
  std::map<std::string, Model> models_ ABSL_GUARDED_BY(mu_);
  std::list<Unloading> unloading_ ABSL_GUARDED_BY(mu_);
  bool watched_ ABSL_GUARDED_BY(mu_) = false;  // by a thread
  CondVar pause_;                              // nobody ever signals it
};

// Whether a message tells that memory, of the machine or of a device, or disk did not suffice.
bool TellsWantOfMemory(absl::string_view message);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_CLOUD_SAGEMAKER_MODELS_H_
