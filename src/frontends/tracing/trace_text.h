// SPDX-License-Identifier: Apache-2.0
// A finished trace in Triton's file format: JSON objects, one for the names of each request
// and one for each event. Pure functions.
#ifndef NEREID_FRONTENDS_TRACING_TRACE_TEXT_H_
#define NEREID_FRONTENDS_TRACING_TRACE_TEXT_H_

#include <string>

#include "frontends/tracing/finished_trace.h"

namespace nereid {

// Appends the objects, with commas between them: those of the client's request first, then those of
// each request that came of it, each in the order of what happened.
void AppendTraceText(const FinishedTrace& trace, std::string* out);

// Appends the elements of `tensor`, with commas between them. Strings stand as they are, bytes that
// are no elements are left out.
void AppendElements(const TracedTensor& tensor, std::string* out);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_TRACE_TEXT_H_
