#include "tuner/store.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tuner/dtype.h"
#include "tuner/error.h"
#include "tuner/resources_json.h"
#include "tuner/store_guard.h"
#include "tuner/store_statement.h"

namespace headtune {
namespace {

using nlohmann::json;

constexpr std::pair<Status, const char*> status_names[] = {
    {Status::compile_error, "compile_error"},
    {Status::compile_crashed, "compile_crashed"},
    {Status::compile_timed_out, "compile_timed_out"},
    {Status::compiled, "compiled"},
    {Status::verify_failed, "verify_failed"},
    {Status::crashed, "crashed"},
    {Status::timed_out, "timed_out"},
    {Status::device_fault, "device_fault"},
    {Status::unavailable, "unavailable"},
    {Status::verified, "verified"},
    {Status::outraced, "outraced"},
    {Status::timed, "timed"},
};

StoredVariant read_variant(SQLite::Statement& row) {
  StoredVariant v;
  v.id = row.getColumn(0).getInt64();
  v.environment = row.getColumn(1).getInt64();
  v.problem = row.getColumn(2).getInt64();
  v.config = parse_config(row.getColumn(3).getString());
  v.defines = row.getColumn(4).getString();
  v.template_hash = row.getColumn(5).getString();
  v.status = parse_status(row.getColumn(6).getString());
  v.reason = row.getColumn(7).getString();
  v.resources = resources_of(json::parse(row.getColumn(8).getString()), AbsentField::zero);
  v.compile_seconds = row.getColumn(9).getDouble();
  if (!row.getColumn(10).isNull()) v.verify_error = row.getColumn(10).getDouble();
  v.verify_tolerance = row.getColumn(11).getDouble();
  return v;
}

constexpr const char* variant_columns =
    "SELECT id, environment_id, problem_id, config, defines, template_hash, status, reason, resources, "
    "compile_seconds, verify_error, verify_tolerance FROM variant ";

StoredTiming read_timing(SQLite::Statement& row) {
  return {row.getColumn(0).getInt(),
          row.getColumn(1).getInt(),
          row.getColumn(2).getString(),
          row.getColumn(3).getDouble(),
          row.getColumn(4).getDouble(),
          row.getColumn(5).getDouble(),
          row.getColumn(6).getInt64(),
          row.getColumn(7).getInt(),
          row.getColumn(8).getString(),
          row.getColumn(9).getInt() != 0,
          json::parse(row.getColumn(10).getString()).get<std::vector<double>>(),
          json::parse(row.getColumn(11).getString()).get<std::map<std::string, long long>>()};
}

void bind_environment(SQLite::Statement& statement, const StoredEnvironment& e) {
  bind_all(statement, e.provider, e.arch, e.features, e.cu_count, e.wave_size, e.lds_bytes, e.driver, e.runtime,
           e.compiler, int{e.estimated});
}

void bind_problem(SQLite::Statement& statement, const StoredProblem& stored) {
  const Problem& p = stored.problem;
  bind_all(statement, stored.op, p.head_dim, p.v_head_dim, p.num_q_heads, p.num_kv_heads, p.extend_len,
           int{p.is_causal}, to_string(p.dtype), to_string(p.kv_dtype));
}

std::int64_t only_id(SQLite::Statement& statement) {
  if (!statement.executeStep()) throw UsageError("the database lost a row that was just written");
  return statement.getColumn(0).getInt64();
}

}  // namespace

const char* name(Status status) {
  for (const auto& [value, text] : status_names)
    if (value == status) return text;
  return "unknown";
}

Status parse_status(const std::string& name) {
  for (const auto& [value, text] : status_names)
    if (name == text) return value;
  throw UsageError("unknown variant status '" + name + "' in the database");
}

bool failed(Status status) { return status != Status::compiled && status < Status::verified; }

bool finished(Status status) { return status != Status::compiled && status != Status::verified; }

bool trusted(const StoredTiming& timing) {
  const std::string words = " " + timing.flags + " ";
  return words.find(" unsettled ") == std::string::npos && words.find(" drift ") == std::string::npos;
}

int StoredVariant::registers() const {
  int most = 0;
  for (const auto& [kernel, r] : resources) most = std::max(most, r.vgpr + r.agpr);
  return most;
}

std::int64_t Store::add(const StoredEnvironment& e) {
  return guarded(file_, [&] {
    SQLite::Statement insert(
        *database_,
        "INSERT INTO environment (provider, arch, features, cu_count, wave_size, lds_bytes, driver, "
        "runtime, compiler, estimated, device_name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING");
    bind_environment(insert, e);
    insert.bind(11, e.device_name);
    insert.exec();
    SQLite::Statement find(
        *database_,
        "SELECT id FROM environment WHERE provider = ? AND arch = ? AND features = ? AND cu_count = ? "
        "AND wave_size = ? AND lds_bytes = ? AND driver = ? AND runtime = ? AND compiler = ? AND "
        "estimated = ?");
    bind_environment(find, e);
    return only_id(find);
  });
}

std::int64_t Store::add(const StoredProblem& problem) {
  return guarded(file_, [&] {
    SQLite::Statement insert(*database_,
                             "INSERT INTO problem (op, head_dim, v_head_dim, num_q_heads, num_kv_heads, extend_len, "
                             "is_causal, dtype, kv_dtype) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
    bind_problem(insert, problem);
    insert.exec();
    SQLite::Statement find(
        *database_,
        "SELECT id FROM problem WHERE op = ? AND head_dim = ? AND v_head_dim = ? AND num_q_heads = ? "
        "AND num_kv_heads = ? AND extend_len = ? AND is_causal = ? AND dtype = ? AND kv_dtype = ?");
    bind_problem(find, problem);
    return only_id(find);
  });
}

namespace {

void bind_variant(SQLite::Statement& insert, const StoredVariant& v) {
  bind_all(insert, v.environment, v.problem, config_text(v.config), v.defines, v.template_hash, name(v.status),
           v.reason, resources_json(v.resources).dump(-1, ' ', false, json::error_handler_t::replace),
           v.compile_seconds, v.registers());
  if (v.verify_error) insert.bind(11, *v.verify_error), insert.bind(12, v.verify_tolerance);
}

constexpr const char* insert_variant =
    "INSERT INTO variant (environment_id, problem_id, config, defines, template_hash, status, reason, resources, "
    "compile_seconds, registers, verify_error, verify_tolerance) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

}  // namespace

namespace {

void insert_timing(SQLite::Database& database, std::int64_t variant, const StoredTiming& t) {
  SQLite::Statement insert(database,
                           "INSERT INTO timing (variant_id, context, batch, method, median_us, low_us, high_us, "
                           "samples, floor_bytes, clock_mhz, flags, estimated, raw, counters) "
                           "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  bind_all(insert, variant, t.context, t.batch, t.method, t.median_us, t.low_us, t.high_us,
           static_cast<int>(t.samples_us.size()), static_cast<std::int64_t>(t.floor_bytes), t.clock_mhz, t.flags,
           int{t.estimated}, json(t.samples_us).dump(), json(t.counters).dump());
  insert.exec();
}

}  // namespace

std::int64_t Store::put(const StoredVariant& v, const std::vector<StoredTiming>& timings) {
  return guarded(file_, [&] {
    SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
    SQLite::Statement remove(*database_,
                             "DELETE FROM variant WHERE environment_id = ? AND problem_id = ? AND defines = ? AND "
                             "template_hash = ?");
    bind_all(remove, v.environment, v.problem, v.defines, v.template_hash);
    remove.exec();
    SQLite::Statement insert(*database_, insert_variant);
    bind_variant(insert, v);
    insert.exec();
    const std::int64_t id = database_->getLastInsertRowid();
    for (const StoredTiming& timing : timings) insert_timing(*database_, id, timing);
    transaction.commit();
    return id;
  });
}

void Store::set_status(std::int64_t variant, Status status, const std::string& reason) {
  guarded(file_, [&] {
    SQLite::Statement update(*database_, "UPDATE variant SET status = ?, reason = ? WHERE id = ?");
    bind_all(update, name(status), reason, variant);
    update.exec();
  });
}

void Store::put_timing(std::int64_t variant, const StoredTiming& t) {
  guarded(file_, [&] {
    SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
    SQLite::Statement remove(*database_, "DELETE FROM timing WHERE variant_id = ? AND context = ? AND batch = ?");
    bind_all(remove, variant, t.context, t.batch);
    remove.exec();
    insert_timing(*database_, variant, t);
    transaction.commit();
  });
}

void Store::put_winners(std::int64_t environment, const std::vector<std::int64_t>& problems,
                        const std::vector<StoredWinner>& winners) {
  guarded(file_, [&] {
    SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
    for (const std::int64_t problem : problems) {
      SQLite::Statement remove(
          *database_,
          "DELETE FROM winner WHERE variant_id IN (SELECT id FROM variant WHERE environment_id = ? "
          "AND problem_id = ?)");
      bind_all(remove, environment, problem);
      remove.exec();
    }
    for (const StoredWinner& winner : winners) {
      SQLite::Statement insert(*database_,
                               "INSERT INTO winner (variant_id, context_min, context_max, reason) VALUES (?, ?, ?, ?)");
      bind_all(insert, winner.variant, winner.context_min, winner.context_max, winner.reason);
      insert.exec();
    }
    transaction.commit();
  });
}

void Store::erase(std::int64_t variant) {
  guarded(file_, [&] {
    SQLite::Statement remove(*database_, "DELETE FROM variant WHERE id = ?");
    bind_all(remove, variant);
    remove.exec();
  });
}

std::optional<StoredVariant> Store::find(const StoredVariant& key) const {
  return guarded(file_, [&]() -> std::optional<StoredVariant> {
    SQLite::Statement query(*database_, std::string(variant_columns) +
                                            "WHERE environment_id = ? AND problem_id = ? AND defines = ? AND "
                                            "template_hash = ?");
    bind_all(query, key.environment, key.problem, key.defines, key.template_hash);
    if (!query.executeStep()) return std::nullopt;
    return read_variant(query);
  });
}

std::map<std::int64_t, StoredEnvironment> Store::environments() const {
  return guarded(file_, [&] {
    std::map<std::int64_t, StoredEnvironment> all;
    SQLite::Statement row(*database_,
                          "SELECT id, provider, arch, features, cu_count, wave_size, lds_bytes, driver, runtime, "
                          "compiler, estimated, device_name FROM environment");
    while (row.executeStep())
      all[row.getColumn(0).getInt64()] = {
          row.getColumn(1).getString(),    row.getColumn(2).getString(), row.getColumn(3).getString(),
          row.getColumn(4).getInt(),       row.getColumn(5).getInt(),    row.getColumn(6).getInt(),
          row.getColumn(7).getString(),    row.getColumn(8).getString(), row.getColumn(9).getString(),
          row.getColumn(10).getInt() != 0, row.getColumn(11).getString()};
    return all;
  });
}

std::map<std::int64_t, StoredProblem> Store::problems() const {
  return guarded(file_, [&] {
    std::map<std::int64_t, StoredProblem> all;
    SQLite::Statement row(
        *database_,
        "SELECT id, op, head_dim, v_head_dim, num_q_heads, num_kv_heads, extend_len, is_causal, dtype, "
        "kv_dtype FROM problem");
    while (row.executeStep())
      all[row.getColumn(0).getInt64()] = {
          row.getColumn(1).getString(),
          Problem{row.getColumn(2).getInt(), row.getColumn(3).getInt(), row.getColumn(4).getInt(),
                  row.getColumn(5).getInt(), row.getColumn(6).getInt(), row.getColumn(7).getInt() != 0,
                  parse_dtype(row.getColumn(8).getString()), parse_dtype(row.getColumn(9).getString())}};
    return all;
  });
}

std::vector<StoredVariant> Store::variants(std::int64_t environment, std::int64_t problem) const {
  return guarded(file_, [&] {
    std::vector<StoredVariant> all;
    SQLite::Statement query(*database_, std::string(variant_columns) +
                                            "WHERE environment_id = ? AND problem_id = ? ORDER BY defines, "
                                            "template_hash");
    bind_all(query, environment, problem);
    while (query.executeStep()) all.push_back(read_variant(query));
    return all;
  });
}

std::vector<StoredTiming> Store::timings(std::int64_t variant) const {
  return guarded(file_, [&] {
    std::vector<StoredTiming> all;
    SQLite::Statement query(*database_,
                            "SELECT context, batch, method, median_us, low_us, high_us, floor_bytes, clock_mhz, flags, "
                            "estimated, raw, counters FROM timing WHERE variant_id = ? ORDER BY context, batch");
    bind_all(query, variant);
    while (query.executeStep()) all.push_back(read_timing(query));
    return all;
  });
}

std::vector<StoredWinner> Store::winners(std::int64_t environment, std::int64_t problem) const {
  return guarded(file_, [&] {
    std::vector<StoredWinner> all;
    SQLite::Statement query(*database_,
                            "SELECT variant_id, context_min, context_max, winner.reason FROM winner JOIN variant ON "
                            "variant.id = variant_id WHERE environment_id = ? AND problem_id = ? ORDER BY context_min");
    bind_all(query, environment, problem);
    while (query.executeStep())
      all.push_back({query.getColumn(0).getInt64(), query.getColumn(1).getInt(), query.getColumn(2).getInt(),
                     query.getColumn(3).getString()});
    return all;
  });
}

}  // namespace headtune
