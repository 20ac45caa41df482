// The buffer protocol. It is part of the limited API since Python 3.11 only; its structure and the
// numbers of its slots are the same in all versions from 3.9. REQUIRES the GIL.
#ifndef NEREID_PYTHON_NATIVE_BUFFER_PROTOCOL_H_
#define NEREID_PYTHON_NATIVE_BUFFER_PROTOCOL_H_

#include <cstdint>
#include <vector>

#include "backends/sdk/python/data_types.h"
#include "backends/sdk/python/python_api.h"

namespace nereid_python::native {

struct BufferView {
  void* buf;
  PyObject* obj;
  Py_ssize_t len;
  Py_ssize_t itemsize;
  int readonly;
  int ndim;
  char* format;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  Py_ssize_t* suboffsets;
  void* internal;
};

constexpr int kGetBufferSlot = 1;
constexpr int kReleaseBufferSlot = 2;

// Fills a view of contiguous elements of `owner`, which it keeps alive. Elements of BF16, which the
// protocol lacks, are seen as uint16, and strings as their bytes. -1 with an exception.
int FillBuffer(PyObject* owner, DataType type, const std::vector<int64_t>& shape, void* data,
               uint64_t size, BufferView* view, int flags);
// Frees what FillBuffer allocated; for kReleaseBufferSlot.
void ReleaseBuffer(PyObject* owner, BufferView* view);

}  // namespace nereid_python::native

#endif  // NEREID_PYTHON_NATIVE_BUFFER_PROTOCOL_H_
