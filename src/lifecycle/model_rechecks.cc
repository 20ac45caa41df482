// How ModelManager checks ensembles again whose members changed while others worked on them: who
// changes a member does not wait for them, since a load that they wait for may hang.
#include <exception>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/log.h"
#include "lifecycle/load_job.h"
#include "lifecycle/model_manager.h"

namespace nereid {

void ModelManager::CheckAgain(std::vector<PlannedAction> actions) {
  Work work;
  std::vector<BusyMark> marks;
  {
    MutexLock lock(&mu_);
    std::set<ModelId> not_now;
    for (PlannedAction& action : actions) {
      // Also one whose end as a user was planned: what it lacks is found by the check.
      action.kind = PlannedAction::Kind::kLoad;
      action.reason.clear();
      action.on_request = false;
      const auto record = records_.find(action.model);
      const bool busy = busy_.count(action.model) > 0;
      if (busy) again_.insert(action.model);
      if (busy || record == records_.end() || !record->second.wanted) not_now.insert(action.model);
    }
    actions = WithoutModels(std::move(actions), not_now);
    marks = MarkBusy(actions);
  }
  if (actions.empty()) return;
  ReadRest(Layout(), actions, &work);
  Begin(std::move(actions), std::move(work.prepared), std::move(marks))->Wait();
}

void ModelManager::BeginAgain(const std::shared_ptr<const PreparedModel>& last,
                              BusyMark mark) noexcept try {
  auto job = std::make_shared<LoadJob>(this, std::move(mark), PlanRun::Ending());
  job->model = ReadAgain(Layout(), last);
  pool_.Run([this, job] { BeginLoad(job); });
} catch (const std::exception& e) {
  LOG_ERROR << "model '" << last->id.name << "' is not loaded again with its members: " << e.what();
}

}  // namespace nereid
