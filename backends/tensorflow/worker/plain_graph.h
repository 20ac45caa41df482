// SPDX-License-Identifier: Apache-2.0
// Whether TensorFlow's executor for a single thread can run a graph. It takes the operators in an
// order that is fixed when it is made, which costs less per operator than the ordinary executor's
// counting of what is ready. It has no control flow and no references to variables of TensorFlow 1,
// and an operator that waits for another one of the same run would wait forever. Pure functions.
#ifndef NEREID_BACKENDS_TENSORFLOW_WORKER_PLAIN_GRAPH_H_
#define NEREID_BACKENDS_TENSORFLOW_WORKER_PLAIN_GRAPH_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace nereid_tensorflow {

using OperatorNames = std::set<std::string, std::less<>>;

// The operators of an OpList in wire format that this executor can run: those without a state, and
// those of variables, tables, files and calls.
OperatorNames PlainOperators(std::string_view op_list);

// Whether a GraphDef, its functions included, has no other operators. False if it is damaged.
bool IsPlainGraph(std::string_view graph_def, const OperatorNames& plain);
// The same for all graphs of a SavedModel, the content of saved_model.pb.
bool IsPlainSavedModel(std::string_view saved_model, const OperatorNames& plain);

}  // namespace nereid_tensorflow

#endif  // NEREID_BACKENDS_TENSORFLOW_WORKER_PLAIN_GRAPH_H_
