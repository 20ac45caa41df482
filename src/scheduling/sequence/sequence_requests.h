// SPDX-License-Identifier: Apache-2.0
// What SequenceScheduler adds to what clients send: the control tensors of a request, and requests
// of its own.
#ifndef NEREID_SCHEDULING_SEQUENCE_SEQUENCE_REQUESTS_H_
#define NEREID_SCHEDULING_SEQUENCE_SEQUENCE_REQUESTS_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/compiled_model.h"
#include "infer/infer_request.h"
#include "infer/serving_model.h"
#include "model/correlation_id.h"

namespace nereid {

// The tensors by which a model learns where in its sequence a request stands.
// Immutable, but for the requests that it writes to.
class SequenceControls {
 public:
  struct Values {
    bool start = false;
    bool end = false;
    bool ready = false;
    // What EncodeId made of the sequence's id; empty: no sequence. Outlives the execution.
    absl::string_view id;
  };

  // `config` outlives this object and every request to which it adds controls.
  explicit SequenceControls(const CompiledModel* config);

  // The element of the correlation id tensor, in the type that the model takes; empty if the model
  // takes none. A narrower type gets the low-order bytes of a number.
  std::string EncodeId(const CorrelationId& id) const;

  // Adds the control inputs to `request`, or replaces them. Only the backend sees them.
  void Attach(const Values& values, RequestContent* request) const;

 private:
  const SequenceOptions& options_;
  const Shape shape_;  // of every control
  const SequenceControl* id_control_ = nullptr;
  std::string no_id_;  // the element of a request without sequence
};

// Names, types, shapes and sizes of inputs, taken from a request of the model. A plain value.
struct InputShapes {
  struct Input {
    std::string name;
    DataType data_type;
    Shape sent_shape;
    Shape shape;
    uint64_t byte_size;
  };
  std::vector<Input> inputs;

  static InputShapes Of(const RequestContent& request);
};

// A synthetic request: one that comes from no client. It fills a gap in a batch, or tells the model
// that a sequence has ended. It is pending, and its inputs have these shapes and are all zeros. The
// model's answers are dropped, nothing about the request is counted, and it is deleted when it is
// released.
RequestPtr MakeSyntheticRequest(ModelPass pass, const InputShapes& shape, TimePoint now);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SEQUENCE_SEQUENCE_REQUESTS_H_
