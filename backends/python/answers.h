// SPDX-License-Identifier: Apache-2.0
// Writes answers to the calls of a model's process: (0, value), or (1 + error code, text).
// Stateless.
#ifndef NEREID_BACKENDS_PYTHON_ANSWERS_H_
#define NEREID_BACKENDS_PYTHON_ANSWERS_H_

#include <string_view>

#include "backends/python/ipc/value.h"
#include "backends/python/transport.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

// The beginning of an answer; one value follows.
inline void BeginAnswer(nereid_python::ValueWriter* writer) {
  writer->List(2);
  writer->Int(0);
}

inline void AnswerError(Transport* transport, uint32_t slot, TRITONSERVER_Error_Code code,
                        std::string_view text) {
  nereid_python::ValueWriter writer;
  writer.List(2);
  writer.Int(1 + static_cast<int64_t>(code));
  writer.Text(text);
  transport->Answer(slot, writer);
}

// None, or the error.
inline void AnswerDone(Transport* transport, uint32_t slot, const Error& error) {
  if (!error.ok()) return AnswerError(transport, slot, error.code(), error.message());
  nereid_python::ValueWriter writer;
  BeginAnswer(&writer);
  writer.None();
  transport->Answer(slot, writer);
}

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_ANSWERS_H_
