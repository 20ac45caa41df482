// Converts tensors in a channel's memory to TensorFlow's and back. Stateless functions.
#ifndef NEREID_BACKENDS_TENSORFLOW_WORKER_TENSORS_H_
#define NEREID_BACKENDS_TENSORFLOW_WORKER_TENSORS_H_

#include <memory>

#include "backends/tensorflow/ipc/channel_memory.h"
#include "backends/tensorflow/ipc/messages.h"
#include "backends/tensorflow/worker/tf_handles.h"

namespace nereid_tensorflow {

// The input `placed` of `type` over the memory of `data`, which it keeps mapped for as long as it
// lives; strings, and all types if `copy`, get separate memory.
Status MakeTensor(const PlacedTensor& placed, TF_DataType type,
                  const std::shared_ptr<Mapping>& data, bool copy, TfTensor* tensor);

// Dims, type and size of `tensor` in the format of a channel's memory.
PlacedTensor DescribeTensor(const TF_Tensor* tensor);

// Writes the bytes that DescribeTensor counted.
void CopyTensor(const TF_Tensor* tensor, char* destination);

}  // namespace nereid_tensorflow

#endif  // NEREID_BACKENDS_TENSORFLOW_WORKER_TENSORS_H_
