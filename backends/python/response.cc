// SPDX-License-Identifier: Apache-2.0
#include "backends/python/response.h"

#include <cstring>

#include "backends/python/parameters.h"
#include "backends/sdk/tensor.h"

namespace nereid_backend {
namespace {

using nereid_python::Tensor;
using nereid_python::ValueReader;

constexpr ParameterSetters<TRITONBACKEND_Response> kSetters = {
    &TRITONBACKEND_ResponseSetStringParameter, &TRITONBACKEND_ResponseSetIntParameter,
    &TRITONBACKEND_ResponseSetBoolParameter, &TRITONBACKEND_ResponseSetDoubleParameter};

Error Damaged(const Tensor& tensor) {
  return Error::Internal(
      StrCat("output '", tensor.name, "' of a Python model is damaged on its way"));
}

Error CheckSize(const Tensor& tensor) {
  const auto type = static_cast<TRITONSERVER_DataType>(tensor.type);
  const int64_t count = ElementCount(tensor.dims.data(), tensor.dims.size());
  const uint64_t element = TRITONSERVER_DataTypeByteSize(type);
  if (type == TRITONSERVER_TYPE_INVALID || type > TRITONSERVER_TYPE_BF16 || count < 0 ||
      (element > 0 &&
       (tensor.size % element != 0 || static_cast<uint64_t>(count) != tensor.size / element))) {
    return Damaged(tensor);
  }
  return Error();
}

}  // namespace

TRITONSERVER_Error_Code ErrorCodeOf(int64_t number) {
  if (number < TRITONSERVER_ERROR_UNKNOWN || number > TRITONSERVER_ERROR_CANCELLED) {
    return TRITONSERVER_ERROR_INTERNAL;
  }
  return static_cast<TRITONSERVER_Error_Code>(number);
}

PythonResponse PythonResponse::Read(ValueReader* reader) {
  PythonResponse response;
  if (reader->List() != 3) reader->Fail();
  if (!reader->TakeNone()) {
    if (reader->List() != 2) reader->Fail();
    Failure failure;
    failure.code = ErrorCodeOf(reader->Int());
    failure.message = reader->Text();
    response.failure = std::move(failure);
  }
  const size_t outputs = reader->List();
  for (size_t i = 0; i < outputs && reader->ok(); ++i) {
    response.outputs.push_back(reader->ReadTensor());
  }
  response.parameters = reader->Text();
  return response;
}

// The process may change what it has written, which only strings do not bear: their lengths are
// read more than once.
bool OutputSource::MayLend(const Tensor& tensor) const {
  return lends_ && tensor.size >= nereid_python::kLeastLent &&
         tensor.type != TRITONSERVER_TYPE_BYTES &&
         (tensor.file == Tensor::kOut || (tensor.file == Tensor::kIn && transport_->sole_reply()));
}

Result<std::string_view> OutputSource::PlacedBytes(const Tensor& tensor) const {
  if (places_ == nullptr) return Damaged(tensor);
  for (const OutputPlace& place : *places_) {
    if (place.output == tensor.name && tensor.size <= place.memory.size) {
      return std::string_view(place.memory.data, tensor.size);
    }
  }
  return Damaged(tensor);
}

Error OutputSource::Put(const Tensor& tensor, TRITONBACKEND_Response* response) {
  NB_RETURN_IF_ERROR(CheckSize(tensor));
  NB_ASSIGN_OR_RETURN(const std::string_view bytes, tensor.file == Tensor::kPlace
                                                        ? PlacedBytes(tensor)
                                                        : transport_->BytesOf(tensor));
  const auto type = static_cast<TRITONSERVER_DataType>(tensor.type);
  const auto dim_count = static_cast<uint32_t>(tensor.dims.size());
  if (MayLend(tensor) && held_ == nullptr) {
    held_ = Transport::HoldReply(transport_);
    lends_ = held_ != nullptr;
  }
  char* buffer = nullptr;
  if (MayLend(tensor)) {
    using Held = std::shared_ptr<const void>;
    auto held = std::make_unique<Held>(held_);
    const LentBytes lent{bytes, [](void* userp) { delete static_cast<Held*>(userp); }, held.get()};
    NB_ASSIGN_OR_RETURN(const bool taken, LendOutput(response, tensor.name.c_str(), type,
                                                     tensor.dims.data(), dim_count, lent, &buffer));
    if (taken) {
      held.release();  // by the function above
      return Error();
    }
  } else {
    NB_ASSIGN_OR_RETURN(buffer, AllocateOutput(response, tensor.name.c_str(), type,
                                               tensor.dims.data(), dim_count, bytes.size()));
  }
  // What the process has written to its place is there already.
  if (buffer != bytes.data()) std::memcpy(buffer, bytes.data(), bytes.size());
  return Error();
}

Error Fill(const PythonResponse& from, OutputSource* source, TRITONBACKEND_Response* response) {
  for (const Tensor& tensor : from.outputs) NB_RETURN_IF_ERROR(source->Put(tensor, response));
  return SetParameters(from.parameters, kSetters, response);
}

}  // namespace nereid_backend
