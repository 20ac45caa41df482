#include "lifecycle/model/instance_changes.h"

namespace nereid {
namespace {

bool SameNeeds(const std::vector<ResourceNeed>& a, const std::vector<ResourceNeed>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name || a[i].global != b[i].global || a[i].count != b[i].count) {
      return false;
    }
  }
  return true;
}

bool CanServeAs(const InstanceSpec& present, const InstanceSpec& wanted) {
  return present.kind == wanted.kind && present.device_id == wanted.device_id &&
         present.host_policy_name == wanted.host_policy_name && present.passive == wanted.passive &&
         present.rate_priority == wanted.rate_priority &&
         SameNeeds(present.resources, wanted.resources);
}

}  // namespace

InstanceChanges CompareInstances(const std::vector<InstanceSpec>& present,
                                 const std::vector<InstanceSpec>& wanted) {
  InstanceChanges changes;
  std::vector<bool> stays(present.size(), false);
  for (size_t w = 0; w < wanted.size(); ++w) {
    size_t p = 0;
    while (p < present.size() && (stays[p] || !CanServeAs(present[p], wanted[w]))) ++p;
    if (p == present.size()) {
      changes.added.push_back(w);
    } else {
      stays[p] = true;
    }
  }
  for (size_t p = 0; p < present.size(); ++p) {
    if (!stays[p]) changes.removed.push_back(p);
  }
  return changes;
}

}  // namespace nereid
