#include "lifecycle/managed_model.h"

#include <memory>
#include <thread>
#include <utility>

namespace nereid {

void ManagedModel::Close(std::function<void()> on_done) {
  CloseAdmission();
  // The last request may end on a thread of the backend that TearDown has to join.
  auto self = std::static_pointer_cast<ManagedModel>(shared_from_this());
  lifetime().Close([self, on_done = std::move(on_done)] {
    std::thread([self, on_done] {
      self->TearDown();
      on_done();
    }).detach();
  });
}

}  // namespace nereid
