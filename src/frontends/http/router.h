// SPDX-License-Identifier: Apache-2.0
// Router: finds which of a set of patterns matches the path of a request. Immutable, thread-safe.
//
// A pattern is a path. Segments in braces are names, and a part in brackets is optional:
//
//   /v2/models/{model}[/versions/{version}]/infer
//
// A name matches one segment that is not empty, and {version} matches decimal digits only. The
// names are those of PathNames. A path must match as a whole: no trailing slash, no missing part.
// If a path matches several patterns, a literal segment is preferred to a name, from left to right.
// The last name of a pattern may have a literal end in its segment, which begins with a colon and
// is preferred to a name that holds it:
//
//   /v1/models/{model}:predict
#ifndef NEREID_FRONTENDS_HTTP_ROUTER_H_
#define NEREID_FRONTENDS_HTTP_ROUTER_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace nereid {

// `text` with each %XX replaced by its byte. A '%' that is not followed by two hexadecimal digits
// stays.
std::string PercentDecode(absl::string_view text);

// A segment of a path as sent: percent-encoded, a view into the path.
struct PathSegment {
  absl::string_view encoded;

  bool empty() const { return encoded.empty(); }
  std::string Decoded() const { return PercentDecode(encoded); }
  // The same as a view: of the path if nothing had to be decoded, otherwise of
  // `*memory`.
  absl::string_view Decoded(std::string* memory) const {
    if (encoded.find('%') == absl::string_view::npos) return encoded;
    *memory = PercentDecode(encoded);
    return *memory;
  }
};

// The values of a pattern's names in a path; empty for names that the pattern does not have.
struct PathNames {
  PathSegment model;
  PathSegment version;     // decimal digits
  PathSegment label;       // of a version
  PathSegment region;      // of shared memory
  PathSegment repository;  // of models
  PathSegment request;     // an id
};

struct RouteMatch {
  size_t pattern = 0;  // its position in the list given to the constructor
  PathNames names;
};

class Router {
 public:
  // REQUIRES: `patterns` are well-formed, and no two match the same paths. Earlier patterns are
  // found first.
  explicit Router(absl::Span<const absl::string_view> patterns);

  // Empty if no pattern matches. Allocates nothing; the result points into `path`.
  std::optional<RouteMatch> Match(absl::string_view path) const;

 private:
  // The literal end of a pattern: "/infer", ":predict", or nothing.
  struct Tail {
    std::string text;
    size_t pattern;
  };
  // The literal text up to the next name, and that name: "/v2/models/" and {model}.
  struct Run {
    std::string text;
    PathSegment PathNames::*name;
    int next;  // index of a node
  };
  // A position in the patterns: their beginning, or after a name.
  struct Node {
    std::vector<Tail> tails;
    // Each comes after those of which it is a prefix, because a literal segment is preferred to a
    // name.
    std::vector<Run> runs;
  };

  // `path`: a pattern with or without its optional part.
  void Add(absl::string_view path, size_t pattern);
  // The node after such a run from `node`; created if there is none yet.
  int Follow(int node, absl::string_view text, PathSegment PathNames::*name);
  // Whether `last`, the rest of a path, is a value of the name of `run` and a literal end.
  bool WalkEnd(const Run& run, absl::string_view last, RouteMatch* match) const;
  // Whether the rest of a path leads from `node` to the end of a pattern.
  bool Walk(int node, absl::string_view rest, RouteMatch* match) const;

  std::vector<Node> nodes_;  // the first is the beginning
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_ROUTER_H_
