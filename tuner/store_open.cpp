// Opening the database: what is refused, how it is journalled, who may sweep.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tuner/error.h"
#include "tuner/store.h"
#include "tuner/store_guard.h"
#include "tuner/store_schema.h"

namespace headtune {
namespace {

/// Another process may be committing; its transactions take milliseconds.
constexpr int busy_timeout_ms = 30000;

std::filesystem::path directory_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

std::unique_ptr<SQLite::Database> open(const std::filesystem::path& file, Access access) {
  if (access == Access::read_only && !std::filesystem::exists(file))
    throw UsageError(fmt::format("no database {}: run `headtune sweep --db {}` first", file.string(), file.string()));
  if (access == Access::create && !std::filesystem::is_directory(directory_of(file)))
    throw UsageError(fmt::format("cannot create {}: no such directory", file.string()));
  const int flags = access == Access::create ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE : SQLite::OPEN_READONLY;
  return std::make_unique<SQLite::Database>(file.string(), flags, busy_timeout_ms);
}

int pragma(SQLite::Database& database, const char* name) {
  return database.execAndGet(fmt::format("PRAGMA {}", name)).getInt();
}

bool has_tables(SQLite::Database& database) {
  return database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() > 0;
}

}  // namespace

void fail(const std::filesystem::path& file, const SQLite::Exception& error) {
  const std::string name = file.string();
  const int code = error.getExtendedErrorCode();
  if (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY)  // readers must not put it right
    throw UsageError(
        fmt::format("{}: a sweep was killed while it wrote; run `headtune sweep --db {}` to recover it", name, name));
  switch (error.getErrorCode()) {
    case SQLITE_FULL:
      throw UsageError(fmt::format("{}: disk full; what was committed is kept, free space and sweep again", name));
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw UsageError(
          fmt::format("{}: damaged or not a database ({}); move it away or restore it", name, error.getErrorStr()));
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      throw UsageError(fmt::format("{}: cannot be opened for writing ({})", name, error.getErrorStr()));
    case SQLITE_IOERR:
      throw UsageError(fmt::format("{}: input/output error ({}); what was committed is kept", name, error.what()));
    case SQLITE_BUSY:
      throw UsageError(fmt::format("{}: locked by another program for {} s", name, busy_timeout_ms / 1000));
    default:
      throw UsageError(fmt::format("{}: {}", name, error.what()));
  }
}

Store::Store(const std::filesystem::path& file, Access access) : file_(file) {
  guarded(file_, [&] {
    database_ = open(file, access);
    check_schema(access);
    if (access == Access::read_only) return;
    database_->exec(on_network_file_system(file) ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL");
    // A killed process loses nothing; a power cut may lose the last results, never the file.
    database_->exec("PRAGMA synchronous = NORMAL");
    database_->exec("PRAGMA foreign_keys = ON");
  });
}

Store::~Store() = default;

void Store::check_schema(Access access) {
  // In this order: another sweep may be creating the tables, and numbers them in the same transaction.
  const bool empty = !has_tables(*database_);
  const int version = pragma(*database_, "user_version");
  if (!empty && pragma(*database_, "application_id") != application_id)
    throw UsageError(fmt::format("{}: a database of another program; give another --db", file_.string()));
  if (version > schema_version)
    throw UsageError(fmt::format("{}: schema {} is newer than this headtune's {}; use a newer headtune", file_.string(),
                                 version, schema_version));
  if (!empty && version < schema_version)
    throw UsageError(fmt::format("{}: schema {} is older than this headtune's {}; sweep into a new file",
                                 file_.string(), version, schema_version));
  if (empty && access == Access::read_only)
    throw UsageError(fmt::format("{}: empty; run `headtune sweep --db {}` first", file_.string(), file_.string()));
  if (empty) create_schema();
  const std::string health = database_->execAndGet("PRAGMA quick_check(1)").getString();
  if (health != "ok")
    throw UsageError(fmt::format("{}: damaged ({}); move it away or restore it", file_.string(), health));
}

void Store::create_schema() {
  SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
  if (has_tables(*database_)) return;  // another sweep was faster
  database_->exec(fmt::format("PRAGMA application_id = {}", application_id));
  database_->exec(fmt::format("PRAGMA user_version = {}", schema_version));
  database_->exec(schema_sql);
  transaction.commit();
}

void Store::limit_pages(int pages) {
  guarded(file_, [&] { database_->exec(fmt::format("PRAGMA max_page_count = {}", pages)); });
}

bool on_network_file_system(const std::filesystem::path& file) {
  struct statfs info {};
  if (::statfs(directory_of(file).c_str(), &info) != 0) return false;
  constexpr unsigned network[] = {
      0x6969,      // NFS
      0x517B,      // SMB
      0xFF534D42,  // CIFS
      0xFE534D42,  // SMB2
      0x01021997,  // 9p
      0x0BD00BD0,  // Lustre
      0x00C36400,  // Ceph
      0x19830326,  // BeeGFS
      0x47504653,  // GPFS
      0x65735546,  // FUSE, which may be a network file system
      0x5346414F,  // AFS
  };
  for (const unsigned type : network)
    if (static_cast<unsigned>(info.f_type) == type) return true;
  return false;
}

SweepLock::SweepLock(const std::filesystem::path& database) {
  // Beside the database, never on it: closing any descriptor of the file would drop SQLite's own locks.
  const std::string file = database.string() + "-lock";
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw UsageError(fmt::format("cannot write {}: {}", file, std::strerror(errno)));
}

bool SweepLock::try_lock() { return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

void SweepLock::lock() {
  while (::flock(descriptor_, LOCK_EX) != 0)
    if (errno != EINTR) return;
}

SweepLock::~SweepLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace headtune
