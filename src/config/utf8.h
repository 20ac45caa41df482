// SPDX-License-Identifier: Apache-2.0
// Strings of a configuration must be UTF-8: they end up in JSON and in protobuf messages. The text
// form accepts arbitrary bytes through escapes. Pure functions.
#ifndef NEREID_CONFIG_UTF8_H_
#define NEREID_CONFIG_UTF8_H_

#include <google/protobuf/message.h>

#include <string>

namespace nereid {

// The name of a string field, at any depth, whose value is not UTF-8; empty if there is none.
std::string FindFieldWithInvalidUtf8(const google::protobuf::Message& message);

}  // namespace nereid

#endif  // NEREID_CONFIG_UTF8_H_
