// Executions that the process of a Python model gets by one command and executes one after the
// other. It replies to each when it is done, so the server answers one while the process executes
// the next. Stateless; used by the instance's thread.
#ifndef NEREID_BACKENDS_PYTHON_SEPARATE_EXECUTIONS_H_
#define NEREID_BACKENDS_PYTHON_SEPARATE_EXECUTIONS_H_

#include <deque>
#include <functional>
#include <memory>

#include "backends/python/execution.h"
#include "backends/python/transport.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

// Runs and finishes the first of `left`, removes them, and calls `done` for each before that. At
// most Control::kMostParts are run. UNAVAILABLE if the process has ended: it was executing the
// first of those that are left, and had not begun with the others.
Error RunSeparately(const std::shared_ptr<Transport>& transport, std::deque<Execution>* left,
                    const std::function<void(const Execution&)>& done);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_SEPARATE_EXECUTIONS_H_
