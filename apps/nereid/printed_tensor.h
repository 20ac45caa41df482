// SPDX-License-Identifier: Apache-2.0
// Tensors for human readers: generates them for a model on trial, and prints them. Pure functions.
#ifndef NEREID_APPS_NEREID_PRINTED_TENSOR_H_
#define NEREID_APPS_NEREID_PRINTED_TENSOR_H_

#include <absl/strings/string_view.h>

#include <string>

#include "model/data_type.h"
#include "model/shape.h"

namespace nereid {

// The bytes of a tensor of `elements` ones; of BOOL, true; of BYTES, the word "sample".
std::string SampleTensor(DataType type, int64_t elements);

// "OUTPUT0  FP32 [2,3]  [1.0,2.0,...]": for a long tensor the first elements and their total
// number.
std::string PrintTensor(absl::string_view name, DataType type, const Shape& shape,
                        absl::string_view bytes);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_PRINTED_TENSOR_H_
