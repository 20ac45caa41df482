// How models of ModelManager go: by name, because they are replaced, and all of them at the end.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "base/insist.h"
#include "base/log.h"
#include "lifecycle/model_manager.h"

namespace nereid {
namespace {

// Nobody signals the end of the last request (that would cost every one): it is looked for.
constexpr auto kIdleStep = std::chrono::milliseconds(10);

}  // namespace

ModelManager::Closing ModelManager::PrepareClose(const ModelId& id, int64_t version,
                                                 const std::shared_ptr<ManagedModel>& model,
                                                 const std::string& reason) {
  const std::string name = absl::StrCat("Model '", id.name, "' (version ", version, ")");
  Closing closing{model, {name}, {}};
  closing.close =
      model->PrepareClose(&reaper_, [this, id, version, reason, name, known = model.get()] {
        LOG_INFO << "successfully unloaded '" << id.name << "' version " << version;
        Insist(context_.clock, [&] { NoteClosed(id, version, known, reason); });
        MutexLock lock(&mu_);
        closing_.erase(closing_.find(name));
        // Under the lock: after the last one whoever waits may destroy this object.
        changed_.NotifyAll();
      });
  return closing;
}

void ModelManager::CloseAll(std::vector<Closing> closings) noexcept {
  for (Closing& closing : closings) {
    {
      MutexLock lock(&mu_);
      closing_.merge(closing.name);
    }
    closing.model->Close(std::move(closing.close));
  }
}

void ModelManager::NoteClosed(const ModelId& id, int64_t version, const ManagedModel* model,
                              const std::string& reason) {
  const auto is_known = [&](const ModelDirectory& directory) {
    const auto entry = directory.models.find(id.Text());
    if (entry == directory.models.end()) return false;
    const auto known = entry->second.versions.find(version);
    // A replaced version has a newer one in its place by now, or one that is being loaded.
    return known != entry->second.versions.end() && known->second.model.get() == model;
  };
  Update([&](ModelDirectory* directory) {
    if (!is_known(*directory)) return;
    VersionEntry& gone = directory->models[id.Text()].versions.find(version)->second;
    gone.model = nullptr;
    if (gone.state != ModelState::kUnloading) return;
    gone.state = ModelState::kUnavailable;
    gone.reason = reason.empty() ? kUnloadedReason : reason;
  });
}

void ModelManager::Retire(const ModelId& id, const std::string& reason) {
  std::vector<Closing> closings;
  const auto note = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const auto record = records_.find(id);
    if (record == records_.end()) return;
    record->second.served = nullptr;
    record->second.changed = ++changes_;
    // An ensemble that has lost a member comes back with it.
    record->second.wanted = !reason.empty() && reason != kAmbiguousReason;
    if (!record->second.wanted) record->second.on_request = false;
  };
  const auto change = [&](ModelDirectory* directory) {
    const auto it = directory->models.find(id.Text());
    if (it == directory->models.end()) return;
    // A model of which no version was ever found is as if nobody had tried.
    if (it->second.versions.empty()) return directory->models.erase(it);
    for (auto& [version, entry] : directory->models[id.Text()].versions) {
      if (entry.state == ModelState::kReady) {
        entry.state = ModelState::kUnloading;
        closings.push_back(PrepareClose(id, version, entry.model, reason));
      } else if (entry.state == ModelState::kUnavailable) {
        entry.reason = reason.empty() ? kUnloadedReason : reason;
      }
    }
  };
  Update(change, note);
  CloseAll(std::move(closings));
}

void ModelManager::RetireMisfits(const ModelId& id) {
  // Kept: the look-up of members gets a newer directory.
  std::vector<std::shared_ptr<ManagedModel>> ready;
  const ModelDirectory& directory = Directory();
  const auto entry = directory.models.find(id.Text());
  if (entry == directory.models.end()) return;
  for (const auto& [number, version] : entry->second.versions) {
    if (version.state == ModelState::kReady) ready.push_back(version.model);
  }
  for (const std::shared_ptr<ManagedModel>& model : ready) {
    const absl::Status fits = model->CheckMembers();
    if (!fits.ok()) return Retire(id, std::string(fits.message()));
  }
}

void ModelManager::CloseAdmission() {
  for (const auto& [name, entry] : Directory().models) {
    for (const auto& [version, v] : entry.versions) {
      if (v.model != nullptr) v.model->CloseAdmission();
    }
  }
}

std::vector<std::string> ModelManager::InFlight() const {
  std::vector<std::string> texts;
  const auto look_at = [&](ManagedModel* model) {
    const int64_t count = model == nullptr ? 0 : model->InFlight();
    if (count == 0) return;
    texts.push_back(absl::StrCat("Model '", model->config().name, "' (version ",
                                 model->config().version, ") has ", count,
                                 " in-flight inferences"));
  };
  for (const auto& [name, entry] : Directory().models) {
    for (const auto& [version, v] : entry.versions) look_at(v.model.get());
    for (const std::weak_ptr<ManagedModel>& draining : entry.draining) {
      look_at(draining.lock().get());
    }
  }
  return texts;
}

std::shared_ptr<ManagedModel> ModelManager::FindSequence(absl::string_view name, int64_t version,
                                                         const CorrelationId& id) const {
  return Directory().FindSequence(name, version, id);
}

bool ModelManager::WaitIdle(TimePoint deadline) {
  TimePoint next_report = context_.clock->Now() + std::chrono::seconds(1);
  while (true) {
    const std::vector<std::string> busy = InFlight();
    if (busy.empty()) return true;
    const TimePoint now = context_.clock->Now();
    if (now >= deadline || now >= next_report) {
      const auto left = std::chrono::duration_cast<std::chrono::seconds>(deadline - now).count();
      LOG_INFO << "Timeout " << std::max<int64_t>(0, left) << ": Found " << busy.size()
               << " model versions that have in-flight inferences";
      for (const std::string& text : busy) LOG_INFO << text;
      next_report = now + std::chrono::seconds(1);
    }
    if (now >= deadline) return false;
    MutexLock lock(&mu_);
    context_.clock->Wait(&changed_, &mu_, std::min(deadline, now + kIdleStep));
  }
}

void ModelManager::UnloadAll(TimePoint deadline) {
  std::vector<ModelId> ids;
  for (const auto& [key, entry] : Directory().models) ids.push_back(entry.id);
  // Those that are idle first: one whose load hangs must not keep the others.
  for (const TimePoint until : {context_.clock->Now(), deadline}) {
    std::vector<ModelId> busy;
    for (const ModelId& id : ids) {
      bool idle;
      {
        MutexLock lock(&mu_);
        idle = WaitNotBusy(id, until);
      }
      if (idle) {
        Retire(id, "");
      } else {
        busy.push_back(id);
      }
    }
    ids = std::move(busy);
  }
}

bool ModelManager::WaitUnloaded(TimePoint deadline) {
  MutexLock lock(&mu_);
  while (!closing_.empty() || !busy_.empty()) {
    if (context_.clock->Now() >= deadline) return false;
    context_.clock->Wait(&changed_, &mu_, deadline);
  }
  return true;
}

std::vector<std::string> ModelManager::Unfinished() const {
  std::vector<std::string> texts = InFlight();
  MutexLock lock(&mu_);
  for (const ModelId& id : busy_) {
    texts.push_back(absl::StrCat("Model '", id.Text(), "' is being loaded or unloaded"));
  }
  for (const std::string& name : closing_) {
    texts.push_back(absl::StrCat(name, " has not been torn down yet"));
  }
  return texts;
}

}  // namespace nereid
