// Filler requests: requests that come from no client. They fill a place of a batch, or tell the
// model that a sequence has ended. The model's answers are dropped, and nothing about fillers is
// counted.
#ifndef NEREID_SCHEDULING_SEQUENCE_FILLER_H_
#define NEREID_SCHEDULING_SEQUENCE_FILLER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "infer/infer_request.h"
#include "infer/serving_model.h"

namespace nereid {

// Names, types, shapes and sizes of inputs, taken from a request of the model. A plain value.
struct FillerShape {
  struct Input {
    std::string name;
    DataType data_type;
    Shape sent_shape;
    Shape shape;
    uint64_t byte_size;
  };
  std::vector<Input> inputs;

  static FillerShape Of(const InferRequest& request);
};

// A pending request with inputs of `shape` that are all zeros. It is deleted when it is released.
RequestPtr MakeFiller(ModelPass pass, const FillerShape& shape, TimePoint now);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SEQUENCE_FILLER_H_
