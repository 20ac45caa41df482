// SequenceControls: the tensors by which a model learns where in its sequence a request stands.
// Immutable, but for the requests that it writes to.
#ifndef NEREID_SCHEDULING_SEQUENCE_CONTROLS_H_
#define NEREID_SCHEDULING_SEQUENCE_CONTROLS_H_

#include <absl/strings/string_view.h>

#include <string>

#include "config/compiled_model.h"
#include "infer/infer_request.h"
#include "model/correlation_id.h"

namespace nereid {

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
  void Attach(const Values& values, InferRequest* request) const;

 private:
  const SequenceOptions& options_;
  const Shape shape_;  // of every control
  const SequenceControl* id_control_ = nullptr;
  std::string no_id_;  // the element of a request without sequence
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SEQUENCE_CONTROLS_H_
