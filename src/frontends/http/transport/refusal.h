// Refusal: why the transport itself answers a request. A plain value.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_REFUSAL_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_REFUSAL_H_

#include <string>

namespace nereid::http {

struct Refusal {
  int status = 0;
  std::string message;
};

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_REFUSAL_H_
