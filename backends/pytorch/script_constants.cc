#include "backends/pytorch/script_constants.h"

#include <caffe2/serialize/inline_container.h>

#include <set>

namespace nereid_backend {

Error CheckConstants(const std::string& path, const torch::jit::Module& module) {
  uint64_t announced = 0;
  std::set<const void*> seen;  // storages that were counted, because tensors may share one
  for (const c10::IValue& attribute : module.attributes(/*recurse=*/true)) {
    if (!attribute.isTensor() || !attribute.toTensor().defined()) continue;
    const at::Tensor& tensor = attribute.toTensor();
    if (!tensor.has_storage()) continue;
    const c10::Storage& storage = tensor.storage();
    if (seen.insert(storage.unsafeGetStorageImpl()).second) announced += storage.nbytes();
  }
  caffe2::serialize::PyTorchStreamReader reader(path);
  uint64_t held = 0;
  for (const std::string& record : reader.getAllRecords()) held += reader.getRecordSize(record);
  if (announced <= held) return Error();
  return Error::InvalidArg(StrCat("the file announces tensors of ", announced, " bytes, but holds ",
                                  held, " bytes in all"));
}

}  // namespace nereid_backend
