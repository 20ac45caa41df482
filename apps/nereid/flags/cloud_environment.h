// The environment variables by which cloud platforms tell their containers where to listen and what
// to serve. They are read before the command line, which wins.
#ifndef NEREID_APPS_NEREID_FLAGS_CLOUD_ENVIRONMENT_H_
#define NEREID_APPS_NEREID_FLAGS_CLOUD_ENVIRONMENT_H_

#include <absl/status/status.h>

#include "flags/trace_environment.h"
#include "settings.h"

namespace nereid {

// Reads AIP_* (Vertex AI) into `settings`. INVALID_ARGUMENT names a variable that has no possible
// value; the others are read all the same.
absl::Status ReadCloudEnvironment(const Environment& environment, Settings* settings);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_FLAGS_CLOUD_ENVIRONMENT_H_
