// SPDX-License-Identifier: Apache-2.0
// The tensors of an OpenVINO model as the SDK describes them, and the element types that OpenVINO
// and the protocol share. Stateless functions.
#ifndef NEREID_BACKENDS_OPENVINO_SIGNATURE_H_
#define NEREID_BACKENDS_OPENVINO_SIGNATURE_H_

#include <openvino/core/model.hpp>
#include <openvino/core/type/element_type.hpp>

#include "backends/sdk/graph/signature.h"
#include "backends/sdk/model_config.h"

namespace nereid_backend {

// INVALID and `dynamic` for types without an equivalent.
TRITONSERVER_DataType FromOvType(const ov::element::Type& type);
ov::element::Type ToOvType(TRITONSERVER_DataType type);

// Inputs and outputs in the order of the model's ports. A tensor may have several names there: the
// name listed in `config` is used, otherwise the alphabetically first one, and for a tensor without
// a name the name of its node. May throw ov::Exception.
Signature ReadSignature(const ov::Model& model, const ModelConfig& config);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_SIGNATURE_H_
