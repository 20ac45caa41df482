#include "lifecycle/managed_model.h"

#include <memory>
#include <utility>

namespace nereid {

void ManagedModel::set_source(std::shared_ptr<ModelSource> source) {
  if (source != nullptr) source->Join();
  source_ = std::move(source);
}

void ManagedModel::Close(Reaper* reaper, std::function<void()> on_done) {
  const std::shared_ptr<ModelSource> source = std::move(source_);
  if (source != nullptr) source->BeginUnload();
  CloseAdmission();
  auto self = std::static_pointer_cast<ManagedModel>(shared_from_this());
  // Made now: whoever brings the last request to its end cannot fail any more.
  auto job = std::make_shared<Reaper::Job>();
  job->push_back([self, source, on_done = std::move(on_done)] {
    self->TearDown();
    if (source != nullptr) source->Leave();
    on_done();
  });
  // The last request may end on a thread of the backend that TearDown has to join.
  lifetime().Close([reaper, job] { reaper->Run(std::move(*job)); });
}

}  // namespace nereid
