// SharingMap: entries by name. Copies of a map share their entries, so that a snapshot of many
// models is cheap. A change copies only the changed entry. Thread-compatible; different threads may
// use different copies.
#ifndef NEREID_LIFECYCLE_SHARING_MAP_H_
#define NEREID_LIFECYCLE_SHARING_MAP_H_

#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace nereid {

// `Entry` is copyable.
template <typename Entry>
class SharingMap {
  using Map = std::map<std::string, std::shared_ptr<const Entry>, std::less<>>;

 public:
  // Read like an element of std::map.
  struct Item {
    const std::string& first;
    const Entry& second;
  };
  class const_iterator {
   public:
    // For the standard algorithms.
    using iterator_category = std::input_iterator_tag;
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Item;

    Item operator*() const { return {it_->first, *it_->second}; }
    auto operator->() const {
      struct Arrow {
        Item item;
        const Item* operator->() const { return &item; }
      };
      return Arrow{**this};
    }
    const_iterator& operator++() {
      ++it_;
      return *this;
    }
    const_iterator operator++(int) { return const_iterator(it_++); }
    friend bool operator==(const const_iterator&, const const_iterator&) = default;

   private:
    friend class SharingMap;
    explicit const_iterator(typename Map::const_iterator it) : it_(it) {}
    typename Map::const_iterator it_;
  };

  const_iterator begin() const { return const_iterator(map_.begin()); }
  const_iterator end() const { return const_iterator(map_.end()); }
  const_iterator find(std::string_view key) const { return const_iterator(map_.find(key)); }
  size_t size() const { return map_.size(); }
  // REQUIRES: the map has `key`.
  const Entry& at(std::string_view key) const { return *map_.find(key)->second; }

  // A copy of the entry, or a new entry, which replaces the entry shared with other maps. Valid
  // until the next call for this key. Change it before this map is copied.
  Entry& operator[](const std::string& key) {
    const auto it = map_.find(key);
    auto changed =
        it == map_.end() ? std::make_shared<Entry>() : std::make_shared<Entry>(*it->second);
    // If memory is exhausted, the map stays unchanged.
    map_.insert_or_assign(key, changed);
    return *changed;
  }
  void erase(const_iterator it) { map_.erase(it.it_); }
  template <typename Predicate>
  void EraseIf(const Predicate& predicate) {
    std::erase_if(map_, [&](const auto& element) { return predicate(*element.second); });
  }

 private:
  Map map_;
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_SHARING_MAP_H_
