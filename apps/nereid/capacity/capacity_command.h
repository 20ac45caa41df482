// `nereid capacity`: how many nodes a load needs.
#ifndef NEREID_APPS_NEREID_CAPACITY_CAPACITY_COMMAND_H_
#define NEREID_APPS_NEREID_CAPACITY_CAPACITY_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace nereid {

inline constexpr char kCapacityUsage[] =
    "Usage: nereid capacity MODEL --times=FILE [options]\n"
    "\n"
    "Says what one node serves, and how many nodes a load needs, in a simulation of the scheduler\n"
    "with execution times that `nereid tune MODEL --state=FILE` has measured. A node is a machine\n"
    "like the one on which that ran. No server is started, and no model is loaded.\n"
    "\n"
    "With --p99-ms, finds the fewest nodes that keep it. With --nodes, shows so many. With\n"
    "--target, an autoscaler like that of Kubernetes adds nodes and takes them away.\n"
    "\n"
    "  --times=FILE             the file of the measured times\n"
    "  --config=FILE            a config.pbtxt to use instead of the one that was measured\n"
    "  --rate=R                 the load is R requests per second\n"
    "  --day=R,R,...            the load follows these rates, at equal distances over --seconds\n"
    "  --recording=FILE         the load is that of a recording (nereid --record=FILE)\n"
    "  --arrivals=KIND          with --rate: constant, poisson, bursty or step: poisson\n"
    "  --seed=N                 with --rate and --day: of random arrivals: 1\n"
    "  --batch-size=N           of a request: 1\n"
    "  --seconds=S              simulated time: 60 with --rate, 86400 with --day\n"
    "  --p99-ms=MS              99 of 100 requests have to be answered within this time\n"
    "  --nodes=N                so many nodes\n"
    "  --max-nodes=N            at most so many nodes: 100\n"
    "  --balancer=KIND          which node gets a request: round-robin or least-in-flight:\n"
    "                           round-robin\n"
    "  --target=N               an autoscaler keeps N requests per node\n"
    "  --gauge=KIND             --target: requests that are in-flight or queued: in-flight\n"
    "  --min-nodes=N            --target: at least so many nodes, with which it begins: 1\n"
    "  --start-seconds=S        --target: until a node that was added is ready: 30\n"
    "  --interval-seconds=S     --target: between two decisions: 15\n"
    "  --shrink-seconds=S       --target: nodes are taken away when so long no decision has\n"
    "                           wanted more: 300\n"
    "  --json                   print JSON\n"
    "\n"
    "Exit status: 0: simulated; 1: no number of nodes keeps --p99-ms; 2: wrong options or files.\n";

// `args`: the arguments after "capacity". Writes the result to `out`, errors to `err`. Returns the
// exit status.
int CapacityCommand(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_CAPACITY_CAPACITY_COMMAND_H_
