#include "infer/serving_model.h"

namespace nereid {

const char* ServingModel::Label(const std::string& output, size_t index) const {
  const auto it = labels_.find(output);
  if (it == labels_.end() || index >= it->second.size()) return nullptr;
  return it->second[index].c_str();
}

}  // namespace nereid
