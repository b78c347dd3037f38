// The parts of the store that say how much of a space was looked at, and how winners do outside the sweep.
#include <SQLiteCpp/SQLiteCpp.h>

#include <nlohmann/json.hpp>

#include "tuner/store.h"
#include "tuner/store_guard.h"
#include "tuner/store_statement.h"

namespace headtune {

using nlohmann::json;

std::string config_text(const Config& config) {
  json values = json::object();
  for (const Knob& knob : knobs) values[knob.name] = config.*knob.member;
  return values.dump();
}

Config parse_config(const std::string& text) {
  const json values = json::parse(text);
  Config config;
  for (const Knob& knob : knobs) config.*knob.member = values.value(knob.name, config.*knob.member);
  return config;
}

int StoredSpace::pruned_count() const {
  int sum = 0;
  for (const PrunedReason& one : pruned) sum += one.count;
  return sum;
}

void Store::put_space(std::int64_t environment, std::int64_t problem, const StoredSpace& space) {
  guarded(file_, [&] {
    SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
    SQLite::Statement replace(*database_,
                              "REPLACE INTO space (environment_id, problem_id, legal, search) VALUES (?, ?, ?, ?)");
    bind_all(replace, environment, problem, space.legal, space.search);
    replace.exec();
    SQLite::Statement remove(*database_, "DELETE FROM pruned WHERE environment_id = ? AND problem_id = ?");
    bind_all(remove, environment, problem);
    remove.exec();
    for (const PrunedReason& one : space.pruned) {
      SQLite::Statement insert(
          *database_, "INSERT INTO pruned (environment_id, problem_id, reason, count, example) VALUES (?, ?, ?, ?, ?)");
      bind_all(insert, environment, problem, one.reason, one.count, config_text(one.example));
      insert.exec();
    }
    transaction.commit();
  });
}

std::optional<StoredSpace> Store::space(std::int64_t environment, std::int64_t problem) const {
  return guarded(file_, [&]() -> std::optional<StoredSpace> {
    SQLite::Statement query(*database_, "SELECT legal, search FROM space WHERE environment_id = ? AND problem_id = ?");
    bind_all(query, environment, problem);
    if (!query.executeStep()) return std::nullopt;
    StoredSpace space{query.getColumn(0).getInt(), query.getColumn(1).getString(), {}};
    SQLite::Statement reasons(*database_,
                              "SELECT reason, count, example FROM pruned WHERE environment_id = ? AND problem_id = ? "
                              "ORDER BY count DESC, reason");
    bind_all(reasons, environment, problem);
    while (reasons.executeStep())
      space.pruned.push_back({reasons.getColumn(0).getString(), reasons.getColumn(1).getInt(),
                              parse_config(reasons.getColumn(2).getString())});
    return space;
  });
}

void Store::put_retiming(std::int64_t variant, const StoredRetiming& r) {
  guarded(file_, [&] {
    SQLite::Statement replace(*database_,
                              "REPLACE INTO retiming (variant_id, context, batch, swept_us, swept_low_us, "
                              "swept_high_us, table_us, table_low_us, table_high_us) "
                              "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    bind_all(replace, variant, r.context, r.batch, r.swept_us, r.swept_low_us, r.swept_high_us, r.table_us,
             r.table_low_us, r.table_high_us);
    replace.exec();
  });
}

std::vector<StoredRetiming> Store::retimings(std::int64_t variant) const {
  return guarded(file_, [&] {
    std::vector<StoredRetiming> all;
    SQLite::Statement row(*database_,
                          "SELECT context, batch, swept_us, swept_low_us, swept_high_us, table_us, table_low_us, "
                          "table_high_us FROM retiming WHERE variant_id = ? ORDER BY context, batch");
    bind_all(row, variant);
    while (row.executeStep())
      all.push_back({row.getColumn(0).getInt(), row.getColumn(1).getInt(), row.getColumn(2).getDouble(),
                     row.getColumn(3).getDouble(), row.getColumn(4).getDouble(), row.getColumn(5).getDouble(),
                     row.getColumn(6).getDouble(), row.getColumn(7).getDouble()});
    return all;
  });
}

void Store::put_extend_below(std::int64_t variant, const ExtendBelow& found) {
  guarded(file_, [&] {
    SQLite::Statement replace(*database_, "REPLACE INTO extend_below (variant_id, batch, keys) VALUES (?, ?, ?)");
    bind_all(replace, variant, found.batch, found.keys);
    replace.exec();
  });
}

std::vector<ExtendBelow> Store::extend_below(std::int64_t variant) const {
  return guarded(file_, [&] {
    std::vector<ExtendBelow> all;
    SQLite::Statement row(*database_, "SELECT batch, keys FROM extend_below WHERE variant_id = ? ORDER BY batch");
    bind_all(row, variant);
    while (row.executeStep()) all.push_back({row.getColumn(0).getInt(), row.getColumn(1).getInt()});
    return all;
  });
}

}  // namespace headtune
