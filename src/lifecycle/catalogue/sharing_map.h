// SPDX-License-Identifier: Apache-2.0
// SharingMap: entries by name. Copies of a map share what they have in common, so that a snapshot
// of many models is cheap: a copy takes no time, and a change makes anew only the changed entry and
// its way from the root of a balanced tree. Thread-compatible; different threads may use different
// copies.
#ifndef NEREID_LIFECYCLE_CATALOGUE_SHARING_MAP_H_
#define NEREID_LIFECYCLE_CATALOGUE_SHARING_MAP_H_

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nereid {

// `Entry` is copyable.
template <typename Entry>
class SharingMap {
  struct Node;
  using Link = std::shared_ptr<const Node>;

 public:
  // Read like an element of std::map.
  struct Item {
    const std::string& first;
    const Entry& second;
  };
  // Visits the entries in the order of their keys.
  class const_iterator {
   public:
    // For the standard algorithms.
    using iterator_category = std::input_iterator_tag;
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Item;

    Item operator*() const { return {at_->key, *at_->entry}; }
    auto operator->() const {
      struct Arrow {
        Item item;
        const Item* operator->() const { return &item; }
      };
      return Arrow{**this};
    }
    const_iterator& operator++() {
      at_ = at_->right != nullptr ? First(at_->right.get()) : Behind(root_, at_->key);
      return *this;
    }
    const_iterator operator++(int) {
      const const_iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const const_iterator& a, const const_iterator& b) {
      return a.at_ == b.at_;
    }

   private:
    friend class SharingMap;
    const_iterator(const Node* root, const Node* at) : root_(root), at_(at) {}
    const Node* root_;
    const Node* at_;  // null: the end
  };
  // A key whose entry was changed, added or erased.
  struct Change {
    std::string key;
    std::shared_ptr<const Entry> before;  // null: there was none
  };

  const_iterator begin() const { return {root_.get(), First(root_.get())}; }
  const_iterator end() const { return {root_.get(), nullptr}; }
  const_iterator find(std::string_view key) const { return {root_.get(), NodeOf(key)}; }
  size_t size() const { return size_; }
  // REQUIRES: the map has `key`.
  const Entry& at(std::string_view key) const { return *NodeOf(key)->entry; }

  // A copy of the entry, or a new entry, which replaces the entry shared with other maps. Valid
  // until the next call for this key. Change it before this map is copied.
  Entry& operator[](const std::string& key) {
    const Node* const node = NodeOf(key);
    auto changed =
        node == nullptr ? std::make_shared<Entry>() : std::make_shared<Entry>(*node->entry);
    // If memory is exhausted, the map stays unchanged.
    Link root = With(root_, key, changed);
    Note(key, node);
    if (node == nullptr) ++size_;
    root_ = std::move(root);
    return *changed;
  }
  void erase(const_iterator it) {
    const std::string key = it.at_->key;
    Link root = Without(root_, key);
    Note(key, it.at_);
    --size_;
    root_ = std::move(root);
  }
  template <typename Predicate>
  void EraseIf(const Predicate& predicate) {
    std::vector<std::string> keys;
    for (const auto& [key, entry] : *this) {
      if (predicate(entry)) keys.push_back(key);
    }
    for (const std::string& key : keys) erase(find(key));
  }
  // The changes since the last call, in their order; a key may occur several times.
  std::vector<Change> TakeChanges() { return std::exchange(changes_, {}); }

 private:
  // An AVL tree whose nodes never change.
  struct Node {
    std::string key;
    std::shared_ptr<const Entry> entry;
    Link left;
    Link right;
    int height;
  };

  static int Height(const Link& link) { return link == nullptr ? 0 : link->height; }
  static Link Make(const std::string& key, std::shared_ptr<const Entry> entry, Link left,
                   Link right) {
    const int height = 1 + std::max(Height(left), Height(right));
    return std::make_shared<const Node>(
        Node{key, std::move(entry), std::move(left), std::move(right), height});
  }
  static Link Make(const Node& middle, Link left, Link right) {
    return Make(middle.key, middle.entry, std::move(left), std::move(right));
  }
  // The same, balanced. REQUIRES: the heights of the sides differ by two at most.
  static Link Balanced(const Node& middle, Link left, Link right) {
    if (Height(left) > Height(right) + 1) {
      if (Height(left->left) >= Height(left->right)) {
        return Make(*left, left->left, Make(middle, left->right, std::move(right)));
      }
      const Node& inner = *left->right;
      return Make(inner, Make(*left, left->left, inner.left),
                  Make(middle, inner.right, std::move(right)));
    }
    if (Height(right) > Height(left) + 1) {
      if (Height(right->right) >= Height(right->left)) {
        return Make(*right, Make(middle, std::move(left), right->left), right->right);
      }
      const Node& inner = *right->left;
      return Make(inner, Make(middle, std::move(left), inner.left),
                  Make(*right, inner.right, right->right));
    }
    return Make(middle, std::move(left), std::move(right));
  }
  static Link With(const Link& link, const std::string& key, std::shared_ptr<const Entry> entry) {
    if (link == nullptr) return Make(key, std::move(entry), nullptr, nullptr);
    const int order = key.compare(link->key);
    if (order == 0) return Make(key, std::move(entry), link->left, link->right);
    if (order < 0) return Balanced(*link, With(link->left, key, std::move(entry)), link->right);
    return Balanced(*link, link->left, With(link->right, key, std::move(entry)));
  }
  // REQUIRES: the tree has `key`.
  static Link Without(const Link& link, const std::string& key) {
    const int order = key.compare(link->key);
    if (order < 0) return Balanced(*link, Without(link->left, key), link->right);
    if (order > 0) return Balanced(*link, link->left, Without(link->right, key));
    if (link->left == nullptr) return link->right;
    if (link->right == nullptr) return link->left;
    const Node& next = *First(link->right.get());
    return Balanced(next, link->left, Without(link->right, next.key));
  }
  static const Node* First(const Node* node) {
    while (node != nullptr && node->left != nullptr) node = node->left.get();
    return node;
  }
  // The node of the first key behind `key`; null if there is none.
  static const Node* Behind(const Node* node, std::string_view key) {
    const Node* found = nullptr;
    while (node != nullptr) {
      const bool behind = key.compare(node->key) < 0;
      if (behind) found = node;
      node = behind ? node->left.get() : node->right.get();
    }
    return found;
  }
  const Node* NodeOf(std::string_view key) const {
    const Node* node = root_.get();
    while (node != nullptr) {
      const int order = key.compare(node->key);
      if (order == 0) break;
      node = order < 0 ? node->left.get() : node->right.get();
    }
    return node;
  }
  void Note(const std::string& key, const Node* before) {
    changes_.push_back({key, before == nullptr ? nullptr : before->entry});
  }

  Link root_;
  size_t size_ = 0;
  std::vector<Change> changes_;
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_CATALOGUE_SHARING_MAP_H_
