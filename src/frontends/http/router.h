// Router: which of a set of patterns the path of a request matches. Immutable, thread-safe.
//
// A pattern is a path. Segments in braces are names, and a part in brackets may be left out:
//
//   /v2/models/{model}[/versions/{version}]/infer
//
// A name stands for one segment that is not empty, {version} for decimal digits only. The names are
// those of PathNames. Paths match as a whole: no trailing slash, nothing left out. Where a path
// matches several patterns, a literal segment is preferred to a name, from left to right.
#ifndef NEREID_FRONTENDS_HTTP_ROUTER_H_
#define NEREID_FRONTENDS_HTTP_ROUTER_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace nereid {

// `text` with each %XX replaced by its byte. A '%' that two hexadecimal digits do not follow
// stays as it is.
std::string PercentDecode(absl::string_view text);

// A segment of a path as it was sent: percent-encoded, a view into the path.
struct PathSegment {
  absl::string_view encoded;

  bool empty() const { return encoded.empty(); }
  std::string Decoded() const { return PercentDecode(encoded); }
};

// What a path says where its pattern has names; empty where it has none.
struct PathNames {
  PathSegment model;
  PathSegment version;     // decimal digits
  PathSegment region;      // of shared memory
  PathSegment repository;  // of models
};

struct RouteMatch {
  size_t pattern = 0;  // its place in the list that the router was made of
  PathNames names;
};

class Router {
 public:
  // REQUIRES: `patterns` are well-formed, and no two match the same paths. What comes first is
  // found first.
  explicit Router(absl::Span<const absl::string_view> patterns);

  // Empty if no pattern matches. Allocates nothing; the result points into `path`.
  std::optional<RouteMatch> Match(absl::string_view path) const;

 private:
  // The end of patterns, without names: "/infer", or nothing.
  struct Tail {
    std::string text;
    size_t pattern;
  };
  // What is literal up to the next name, and that name: "/v2/models/" and {model}.
  struct Run {
    std::string text;
    PathSegment PathNames::*name;
    int next;  // node
  };
  // A place in the patterns: their beginning, or behind a name.
  struct Node {
    std::vector<Tail> tails;
    // Each behind those that it is a prefix of, for a literal segment is preferred to a name.
    std::vector<Run> runs;
  };

  // `path`: a pattern with its optional part, or without it.
  void Add(absl::string_view path, size_t pattern);
  // The node behind such a run from `node`; made where there is none yet.
  int Follow(int node, absl::string_view text, PathSegment PathNames::*name);
  // Whether what is left of a path leads from `node` to the end of a pattern.
  bool Walk(int node, absl::string_view rest, RouteMatch* match) const;

  std::vector<Node> nodes_;  // the first: the beginning
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_ROUTER_H_
