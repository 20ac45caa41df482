// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/load/model_closer.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/insist.h"
#include "base/log.h"

namespace nereid {
namespace {

// The end of the last request is polled: a signal would cost something for every request.
constexpr auto kIdleStep = std::chrono::milliseconds(10);

}  // namespace

ModelCloser::Closing ModelCloser::Prepare(const ModelId& id, int64_t version,
                                          const std::shared_ptr<ManagedModel>& model,
                                          const std::string& reason) {
  const std::string name = absl::StrCat("Model '", id.name, "' (version ", version, ")");
  Closing closing{model, {name}, {}};
  closing.close =
      model->PrepareClose(&reaper_, [this, id, version, reason, name, known = model.get()] {
        LOG_INFO << "successfully unloaded '" << id.name << "' version " << version;
        Insist(clock_, [&] { catalogue_.NoteClosed(id, version, known, reason); });
        MutexLock lock(&mu_);
        closing_.erase(closing_.find(name));
        // With the lock held: after the last version, the waiting thread may destroy this object.
        changed_.NotifyAll();
      });
  return closing;
}

void ModelCloser::Close(std::vector<Closing> closings) noexcept {
  for (Closing& closing : closings) {
    {
      MutexLock lock(&mu_);
      closing_.merge(closing.name);
    }
    closing.model->Close(std::move(closing.close));
  }
}

void ModelCloser::Retire(const ModelId& id, const std::string& reason) {
  std::vector<Closing> closings;
  catalogue_.NoteRetired(id, reason, [&](int64_t version, const VersionEntry& entry) {
    closings.push_back(Prepare(id, version, entry.model(), reason));
  });
  Close(std::move(closings));
}

void ModelCloser::RetireMisfits(const ModelId& id) {
  // Copies, because CheckMembers calls Directory(), which ends the reference below.
  std::vector<std::shared_ptr<ManagedModel>> ready;
  const ModelDirectory& directory = catalogue_.Directory();
  const auto entry = directory.models.find(id.Text());
  if (entry == directory.models.end()) return;
  for (const auto& [number, version] : entry->second.versions) {
    if (version.ready()) ready.push_back(version.model());
  }
  for (const std::shared_ptr<ManagedModel>& model : ready) {
    const absl::Status fits = model->CheckMembers();
    if (!fits.ok()) return Retire(id, std::string(fits.message()));
  }
}

// ---- All models

void ModelCloser::CloseAdmission() {
  for (const auto& [name, entry] : catalogue_.Directory().models) {
    for (const auto& [version, v] : entry.versions) {
      if (v.model() != nullptr) v.model()->CloseAdmission();
    }
  }
}

void ModelCloser::StopWaitingForClients() {
  for (const auto& [name, entry] : catalogue_.Directory().models) {
    for (const auto& [version, v] : entry.versions) {
      if (v.model() != nullptr) v.model()->StopWaitingForClients();
    }
  }
}

std::vector<std::string> ModelCloser::InFlight() const {
  std::vector<std::string> texts;
  const auto look_at = [&](ManagedModel* model) {
    const int64_t count = model == nullptr ? 0 : model->InFlight();
    if (count == 0) return;
    texts.push_back(absl::StrCat("Model '", model->config().name, "' (version ",
                                 model->config().version, ") has ", count,
                                 " in-flight inferences"));
  };
  for (const auto& [name, entry] : catalogue_.Directory().models) {
    for (const auto& [version, v] : entry.versions) look_at(v.model().get());
    for (const std::weak_ptr<ManagedModel>& draining : entry.draining) {
      look_at(draining.lock().get());
    }
  }
  return texts;
}

bool ModelCloser::WaitIdle(TimePoint deadline) {
  TimePoint next_report = clock_->Now() + std::chrono::seconds(1);
  while (true) {
    const std::vector<std::string> busy = InFlight();
    if (busy.empty()) return true;
    const TimePoint now = clock_->Now();
    if (now >= deadline || now >= next_report) {
      const auto left = std::chrono::duration_cast<std::chrono::seconds>(deadline - now).count();
      LOG_INFO << "Timeout " << std::max<int64_t>(0, left) << ": Found " << busy.size()
               << " model versions that have in-flight inferences";
      for (const std::string& text : busy) LOG_INFO << text;
      next_report = now + std::chrono::seconds(1);
    }
    if (now >= deadline) return false;
    MutexLock lock(&mu_);
    clock_->Wait(&changed_, &mu_, std::min(deadline, now + kIdleStep));
  }
}

void ModelCloser::RetireAll(TimePoint deadline) {
  std::vector<ModelId> ids;
  for (const auto& [key, entry] : catalogue_.Directory().models) ids.push_back(entry.id);
  // Models that are not busy come first: a load that hangs must not hold up the others.
  for (const TimePoint until : {clock_->Now(), deadline}) {
    std::vector<ModelId> busy;
    for (const ModelId& id : ids) {
      if (catalogue_.WaitNotBusy(id, until)) {
        Retire(id, "");
      } else {
        busy.push_back(id);
      }
    }
    ids = std::move(busy);
  }
}

bool ModelCloser::WaitClosed(TimePoint deadline) {
  MutexLock lock(&mu_);
  while (!closing_.empty()) {
    if (clock_->Now() >= deadline) return false;
    clock_->Wait(&changed_, &mu_, deadline);
  }
  return true;
}

std::vector<std::string> ModelCloser::Unfinished() const {
  std::vector<std::string> texts;
  MutexLock lock(&mu_);
  for (const std::string& name : closing_) {
    texts.push_back(absl::StrCat(name, " has not been torn down yet"));
  }
  return texts;
}

}  // namespace nereid
