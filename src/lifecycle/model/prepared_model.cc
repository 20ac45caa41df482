// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/model/prepared_model.h"

#include <exception>

#include "base/log.h"

namespace nereid {

ModelSource::~ModelSource() { End(); }

void ModelSource::Leave() noexcept {
  // acq_rel: the thread that ends the source sees all that other threads did with it.
  if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) End();
}

void ModelSource::End() noexcept {
  agents_.reset();  // first: the agents may still read the files
  files_.reset();
}

void ModelSource::EndLoad(bool ok) noexcept try {
  if (agents_ != nullptr) agents_->EndLoad(ok);
} catch (const std::exception& e) {
  LOG_ERROR << "repository agents were not told how a load has ended: " << e.what();
}

void ModelSource::BeginUnload() noexcept try {
  if (agents_ != nullptr) agents_->Unload();
} catch (const std::exception& e) {
  LOG_ERROR << "repository agents were not told of the end of a model: " << e.what();
}

std::vector<std::string> PreparedModel::MemberNames() const {
  std::vector<std::string> names;
  for (const EnsembleMember& member : members) names.push_back(member.name);
  return names;
}

}  // namespace nereid
