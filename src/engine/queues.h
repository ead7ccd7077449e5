#pragma once
// Those who wait, in order, and in rows of those who are alike: where one must wait, so must all behind it in its row.
// So who serves them looks at the first of each row, however many there are.

#include <map>

namespace cuzk::engine {

template <class Row, class Key, class T>
class Queues {
 public:
  void add(const Row& row, const Key& key, T& who) { rows_[row].emplace(key, &who); }
  void remove(const Row& row, const Key& key) {
    auto found = rows_.find(row);
    if (found == rows_.end()) return;
    found->second.erase(key);
    if (found->second.empty()) rows_.erase(found);
  }

  // Calls body(who) in order of keys over all rows; false: no more of this row. `body` may remove who it is given, and
  // nobody else.
  template <class Body>
  void serve(Body&& body) {
    std::map<Key, Row> heads;
    for (const auto& [row, members] : rows_) heads.emplace(members.begin()->first, row);
    while (!heads.empty()) {
      const auto head = heads.extract(heads.begin());
      if (!body(*rows_.at(head.mapped()).at(head.key()))) continue;
      auto row = rows_.find(head.mapped());
      if (row == rows_.end()) continue;
      auto next = row->second.upper_bound(head.key());
      if (next != row->second.end()) heads.emplace(next->first, head.mapped());
    }
  }

 private:
  std::map<Row, std::map<Key, T*>> rows_;
};

}  // namespace cuzk::engine
