// SPDX-License-Identifier: Apache-2.0
// Metrics of the program's own, which appear beside those of the server. Guarded by the GIL.
#ifndef NEREID_PYTHON_NATIVE_METRICS_H_
#define NEREID_PYTHON_NATIVE_METRICS_H_

#include "backends/sdk/python/python_api.h"

namespace nereid_python::native {

// Adds the types `MetricFamily` and `Metric` to the module. False with an exception.
bool AddMetricTypes(PyObject* module);

}  // namespace nereid_python::native

#endif  // NEREID_PYTHON_NATIVE_METRICS_H_
