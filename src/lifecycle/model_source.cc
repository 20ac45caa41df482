#include "lifecycle/model_source.h"

namespace nereid {

ModelSource::~ModelSource() { End(); }

void ModelSource::Leave() {
  // Whoever ends it has seen all that the others did with it.
  if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) End();
}

void ModelSource::End() {
  agents_.reset();  // they may still read the files
  files_.reset();
}

void ModelSource::EndLoad(bool ok) {
  if (agents_ != nullptr) agents_->EndLoad(ok);
}

void ModelSource::BeginUnload() {
  if (agents_ != nullptr) agents_->Unload();
}

}  // namespace nereid
