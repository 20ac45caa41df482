// SPDX-License-Identifier: Apache-2.0
// The methods of the services that the gRPC frontend serves, as their descriptors list them. For
// tests and fuzzers of rules that hold for all of them. Pure.
#ifndef NEREID_FRONTENDS_GRPC_TESTING_METHODS_H_
#define NEREID_FRONTENDS_GRPC_TESTING_METHODS_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <vector>

#include "grpc_service.pb.h"
#include "health.pb.h"
#include "reflection_v1.pb.h"
#include "reflection_v1alpha.pb.h"
#include "tensorflow_serving.pb.h"

namespace nereid {

inline std::vector<const google::protobuf::MethodDescriptor*> AllMethods() {
  std::vector<const google::protobuf::MethodDescriptor*> methods;
  for (const google::protobuf::FileDescriptor* file :
       {inference::ModelInferRequest::descriptor()->file(),
        health::v1::HealthCheckRequest::descriptor()->file(),
        reflection::v1::ServerReflectionRequest::descriptor()->file(),
        reflection::v1alpha::ServerReflectionRequest::descriptor()->file(),
        tensorflow::serving::PredictRequest::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s) {
      const google::protobuf::ServiceDescriptor& service = *file->service(s);
      for (int m = 0; m < service.method_count(); ++m) methods.push_back(service.method(m));
    }
  }
  return methods;
}

// "/package.Service/Method", as calls name it: by the public names (proto/CMakeLists.txt).
inline std::string PathOf(const google::protobuf::MethodDescriptor& method) {
  const std::string service = method.service()->full_name().substr(sizeof("nereid.") - 1);
  const bool is_grpc = service.rfind("health.", 0) == 0 || service.rfind("reflection.", 0) == 0;
  return (is_grpc ? "/grpc." : "/") + service + "/" + method.name();
}

// Whether a method is one of TensorFlow Serving's API, which has a port of its own.
inline bool IsOfServing(const std::string& path) {
  return path.rfind("/tensorflow.serving.", 0) == 0;
}

// An empty request of the method.
inline std::unique_ptr<google::protobuf::Message> NewRequest(
    const google::protobuf::MethodDescriptor& method) {
  return std::unique_ptr<google::protobuf::Message>(
      google::protobuf::MessageFactory::generated_factory()
          ->GetPrototype(method.input_type())
          ->New());
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_TESTING_METHODS_H_
