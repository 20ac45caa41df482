// Tensors for human eyes: made up for a model that is tried, and printed. Pure functions.
#ifndef NEREID_APPS_NEREID_PRINTED_TENSOR_H_
#define NEREID_APPS_NEREID_PRINTED_TENSOR_H_

#include <absl/strings/string_view.h>

#include <string>

#include "model/data_type.h"
#include "model/shape.h"

namespace nereid {

// The bytes of a tensor of `elements` ones; of BOOL, true; of BYTES, the word "sample".
std::string SampleTensor(DataType type, int64_t elements);

// "OUTPUT0  FP32 [2,3]  [1.0,2.0,...]": the first elements of a long tensor, and how many there
// are.
std::string PrintTensor(absl::string_view name, DataType type, const Shape& shape,
                        absl::string_view bytes);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_PRINTED_TENSOR_H_
