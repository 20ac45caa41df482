// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/tensor.h"

#include <bit>
#include <cstring>

#include "backends/sdk/server_function.h"
#include "nereid/backend.h"

namespace nereid_backend {
namespace {

static_assert(std::endian::native == std::endian::little, "BYTES lengths are little-endian");

// Serves as the data of an empty tensor, so that callers need no null check.
alignas(Scratch::kAlignment) char g_no_data[Scratch::kAlignment];

Error RequireCpu(TRITONSERVER_MemoryType type, const char* what, const char* name) {
  if (type != TRITONSERVER_MEMORY_GPU) return Error();
  return Error::Unsupported(
      StrCat(what, " '", name, "' is in GPU memory, which this backend can not use"));
}

Result<InputView> Read(TRITONBACKEND_Input* handle) {
  InputView view;
  view.handle = handle;
  NB_RETURN_IF_ERROR(TRITONBACKEND_InputProperties(handle, &view.name, &view.type, &view.dims,
                                                   &view.dim_count, &view.byte_size,
                                                   &view.buffer_count));
  return view;
}

}  // namespace

Result<InputView> InputView::Find(TRITONBACKEND_Request* request, const char* name) {
  TRITONBACKEND_Input* handle = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestInput(request, name, &handle));
  return Read(handle);
}

Result<InputView> InputView::At(TRITONBACKEND_Request* request, uint32_t index) {
  TRITONBACKEND_Input* handle = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestInputByIndex(request, index, &handle));
  return Read(handle);
}

Error AppendPieces(const InputView& input, std::vector<Piece>* pieces) {
  for (uint32_t i = 0; i < input.buffer_count; ++i) {
    const void* data = nullptr;
    uint64_t size = 0;
    TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
    int64_t id = 0;
    NB_RETURN_IF_ERROR(TRITONBACKEND_InputBuffer(input.handle, i, &data, &size, &type, &id));
    if (size == 0) continue;
    NB_RETURN_IF_ERROR(RequireCpu(type, "input", input.name));
    pieces->push_back(Piece{static_cast<const char*>(data), size});
  }
  return Error();
}

size_t TotalSize(const std::vector<Piece>& pieces) {
  size_t total = 0;
  for (const Piece& piece : pieces) total += piece.size;
  return total;
}

void CopyPieces(const std::vector<Piece>& pieces, char* destination) {
  for (const Piece& piece : pieces) {
    std::memcpy(destination, piece.data, piece.size);
    destination += piece.size;
  }
}

const char* Gather(const std::vector<Piece>& pieces, size_t alignment, Scratch* scratch) {
  if (pieces.empty()) return g_no_data;
  const bool aligned = (reinterpret_cast<uintptr_t>(pieces[0].data) & (alignment - 1)) == 0;
  if (pieces.size() == 1 && aligned) return pieces[0].data;
  char* buffer = scratch->Reserve(TotalSize(pieces));
  CopyPieces(pieces, buffer);
  return buffer;
}

namespace {

Result<char*> BufferOf(TRITONBACKEND_Output* output, const char* name, size_t byte_size) {
  void* buffer = nullptr;
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
  int64_t id = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_OutputBuffer(output, &buffer, byte_size, &memory, &id));
  if (byte_size == 0) return g_no_data;
  NB_RETURN_IF_ERROR(RequireCpu(memory, "output", name));
  if (buffer == nullptr) return Error::Internal(StrCat("no buffer for output '", name, "'"));
  return static_cast<char*>(buffer);
}

}  // namespace

Result<char*> AllocateOutput(TRITONBACKEND_Response* response, const char* name,
                             TRITONSERVER_DataType type, const int64_t* dims, uint32_t dim_count,
                             size_t byte_size) {
  TRITONBACKEND_Output* output = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseOutput(response, &output, name, type, dims, dim_count));
  return BufferOf(output, name, byte_size);
}

Result<bool> LendOutput(TRITONBACKEND_Response* response, const char* name,
                        TRITONSERVER_DataType type, const int64_t* dims, uint32_t dim_count,
                        const LentBytes& lent, char** buffer) {
  TRITONBACKEND_Output* output = nullptr;
  NB_RETURN_IF_ERROR(TRITONBACKEND_ResponseOutput(response, &output, name, type, dims, dim_count));
  static const auto lend = ServerFunction<decltype(NEREID_OutputLend)>("NEREID_OutputLend");
  bool taken = false;
  if (lend != nullptr) {
    NB_RETURN_IF_ERROR(
        lend(output, lent.bytes.data(), lent.bytes.size(), lent.release, lent.userp, &taken));
  }
  if (!taken) {
    NB_ASSIGN_OR_RETURN(*buffer, BufferOf(output, name, lent.bytes.size()));
  }
  return taken;
}

bool WantsOutput(TRITONBACKEND_Request* request, std::string_view name) {
  uint32_t count = 0;
  if (!Error(TRITONBACKEND_RequestOutputCount(request, &count)).ok()) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const char* wanted = nullptr;
    if (Error(TRITONBACKEND_RequestOutputName(request, i, &wanted)).ok() && name == wanted) {
      return true;
    }
  }
  return false;
}

int64_t ElementCount(const int64_t* dims, size_t count) {
  int64_t product = 1;
  for (size_t i = 0; i < count; ++i) {
    if (dims[i] < 0 || __builtin_mul_overflow(product, dims[i], &product)) return -1;
  }
  return product;
}

Error ParseBytes(std::string_view wire, size_t count, std::vector<std::string_view>* elements) {
  const size_t whole = wire.size();
  for (size_t i = 0; i < count; ++i) {
    uint32_t size = 0;
    if (wire.size() >= sizeof(size)) std::memcpy(&size, wire.data(), sizeof(size));
    if (wire.size() < sizeof(size) || wire.size() - sizeof(size) < size) {
      return Error::InvalidArg(StrCat("unexpected end of BYTES data of ", whole,
                                      " bytes in element ", i, " of ", count));
    }
    elements->push_back(wire.substr(sizeof(size), size));
    wire.remove_prefix(sizeof(size) + size);
  }
  if (!wire.empty()) {
    return Error::InvalidArg(
        StrCat("unexpected ", wire.size(), " bytes after the ", count, " elements of BYTES data"));
  }
  return Error();
}

char* WriteBytes(std::string_view element, char* destination) {
  const uint32_t size = static_cast<uint32_t>(element.size());
  std::memcpy(destination, &size, sizeof(size));
  std::memcpy(destination + sizeof(size), element.data(), element.size());
  return destination + BytesWireSize(element);
}

}  // namespace nereid_backend
