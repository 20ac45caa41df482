// SPDX-License-Identifier: Apache-2.0
// Included before everything else in ThreadSanitizer builds by whoever sees protobuf's headers.
//
// Under __SANITIZE_THREAD__ these give map fields two members more, but the distribution's
// libprotobuf is compiled without them: the layouts would not match. The standard library has
// looked at the macro by then and keeps its own.
#ifndef NEREID_PROTO_WITHOUT_TSAN_MACRO_H_
#define NEREID_PROTO_WITHOUT_TSAN_MACRO_H_

#include <version>

#undef __SANITIZE_THREAD__

#endif  // NEREID_PROTO_WITHOUT_TSAN_MACRO_H_
