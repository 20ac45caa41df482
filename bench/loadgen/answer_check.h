// SPDX-License-Identifier: Apache-2.0
// Compares the answers of a server with a reference before it is measured. Used by one thread.
#ifndef NEREID_BENCH_LOADGEN_ANSWER_CHECK_H_
#define NEREID_BENCH_LOADGEN_ANSWER_CHECK_H_

#include <absl/status/status.h>

#include "apps/loadgen/transport.h"
#include "bench/loadgen/answer.h"
#include "bench/loadgen/answer_file.h"

namespace nereid::bench {

// Sends `rounds` requests on each slot, one slot after the other, and compares every answer.
// DATA_LOSS for a wrong one. `file`: where the tensors are, if not in the answers.
absl::Status CheckAnswers(Transport* transport, const Reference& reference, AnswerForm form,
                          int rounds, const AnswerFile& file = AnswerFile());

}  // namespace nereid::bench

#endif  // NEREID_BENCH_LOADGEN_ANSWER_CHECK_H_
