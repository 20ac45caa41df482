// SPDX-License-Identifier: Apache-2.0
// `nereid bench`: loads a model of a running server, and says how fast it answers.
#ifndef NEREID_APPS_WORKSHOP_BENCH_BENCH_COMMAND_H_
#define NEREID_APPS_WORKSHOP_BENCH_BENCH_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace nereid {

// `args`: the arguments after "bench". Writes the result to `out`, errors and progress to `err`.
// Returns the exit status. Catches SIGINT and SIGTERM for as long as it runs.
int BenchCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BENCH_BENCH_COMMAND_H_
