// SPDX-License-Identifier: Apache-2.0
// The environment variables by which cloud platforms tell their containers where to listen and what
// to serve. They are read before the command line, which wins.
#ifndef NEREID_APPS_NEREID_FLAGS_CLOUD_ENVIRONMENT_H_
#define NEREID_APPS_NEREID_FLAGS_CLOUD_ENVIRONMENT_H_

#include "flags/trace_environment.h"
#include "settings.h"

namespace nereid {

// Reads AIP_* (Vertex AI) and SAGEMAKER_TRITON_* into `settings`, and what is wrong with them into
// its vertex_ai_environment and sagemaker_environment.
void ReadCloudEnvironment(const Environment& environment, Settings* settings);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_FLAGS_CLOUD_ENVIRONMENT_H_
