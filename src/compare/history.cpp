// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "src/compare/night.h"
#include "src/core/enum_names.h"
#include "src/core/error.h"

namespace headroom {
namespace {

constexpr int kBusyTimeoutMs = 10'000;  // while another process writes

/// The errno of the last call for the file that failed.
int errno_of_file(sqlite3* database) {
  int error = 0;
  sqlite3_file_control(database, nullptr, SQLITE_FCNTL_LAST_ERRNO, &error);
  if (error == 0) error = sqlite3_system_errno(database);  // of its journal
  return error == 0 ? EIO : error;                         // forgotten, as that of a commit is
}

/// The errno behind a code of SQLite; 0: the machine is not the reason.
int errno_of(sqlite3* database, int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return ENOSPC;
    case SQLITE_READONLY:  // it could be opened for reading alone
      return EACCES;
    case SQLITE_NOMEM:
      return ENOMEM;
    case SQLITE_CANTOPEN:
      return sqlite3_system_errno(database);
    case SQLITE_IOERR:
      return errno_of_file(database);
    default:
      return 0;
  }
}

/// Throws for a code of SQLite, where it is that of an error.
void check(sqlite3* database, int code, const std::string& path) {
  if (code == SQLITE_OK) return;
  const std::string what = path + ": the history can't be used: " + sqlite3_errmsg(database);
  const int error = errno_of(database, code);
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
  throw ResultsError(what);
}

/// One statement with its values.
class Statement {
 public:
  Statement(sqlite3* database, const std::string& path, const char* text)
      : database_(database), path_(path) {
    check(sqlite3_prepare_v2(database, text, -1, &statement_, nullptr));
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(const std::string& text) {
    check(sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                            SQLITE_TRANSIENT));
    return *this;
  }
  Statement& bind(std::optional<double> number) {
    check(number ? sqlite3_bind_double(statement_, ++bound_, *number)
                 : sqlite3_bind_null(statement_, ++bound_));
    return *this;
  }
  /// False: there is no further row.
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) check(code);
    return code == SQLITE_ROW;
  }
  double number() const { return sqlite3_column_double(statement_, 0); }
  std::string_view text() const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, 0));
    return text == nullptr ? "" : text;
  }

 private:
  void check(int code) const { headroom::check(database_, code, path_); }

  sqlite3* database_;
  const std::string& path_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

void execute(sqlite3* database, const std::string& path, const char* text) {
  Statement(database, path, text).step();
}

}  // namespace

void History::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

History::History(const std::string& path) : path_(path) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open(path.c_str(), &database);
  database_.reset(database);
  check(database, code, path);
  sqlite3_busy_timeout(database, kBusyTimeoutMs);
  execute(database, path_,
          "CREATE TABLE IF NOT EXISTS nights (night INTEGER NOT NULL, started_at TEXT NOT NULL, "
          "old_commit TEXT NOT NULL, new_commit TEXT NOT NULL, suite TEXT NOT NULL, "
          "case_name TEXT NOT NULL, machine TEXT NOT NULL, light TEXT NOT NULL, ratio REAL, "
          "reason TEXT NOT NULL, PRIMARY KEY (night, suite, case_name))");
  execute(database, path_,
          "CREATE TABLE IF NOT EXISTS night_journals (night INTEGER PRIMARY KEY, "
          "journals TEXT NOT NULL UNIQUE)");
  execute(database_.get(), path_,
          "CREATE TABLE IF NOT EXISTS night_varied (night INTEGER NOT NULL, what TEXT NOT NULL, "
          "PRIMARY KEY (night, what))");
}

History::~History() = default;

int History::yellow_nights(const NightlyCase& like, const std::string& journals) const {
  Statement select(
      database_.get(), path_,
      "SELECT light FROM nights WHERE suite = ? AND case_name = ? AND machine = ? "
      "AND night < ifnull((SELECT night FROM night_journals WHERE journals = ?), 9e18) "
      "ORDER BY night DESC");
  select.bind(like.suite).bind(like.name).bind(like.machine).bind(journals);
  int count = 0;
  while (select.step() && select.text() == enum_name(Light::yellow)) ++count;
  return count;
}

void History::add(const std::string& journals, const std::string& judged_at,
                  const std::string& old_commit, const std::string& new_commit,
                  const std::vector<NightlyCase>& cases, const std::vector<std::string>& varied) {
  execute(database_.get(), path_, "BEGIN IMMEDIATE");
  try {
    Statement number(database_.get(), path_,
                     "SELECT ifnull((SELECT night FROM night_journals WHERE journals = ?), "
                     "(SELECT ifnull(max(night), 0) + 1 FROM nights))");
    number.bind(journals).step();
    const double night = number.number();
    Statement name(database_.get(), path_, "INSERT OR REPLACE INTO night_journals VALUES (?, ?)");
    name.bind(night).bind(journals).step();
    for (const std::string& what : varied) {
      Statement insert(database_.get(), path_, "INSERT OR IGNORE INTO night_varied VALUES (?, ?)");
      insert.bind(night).bind(what).step();
    }
    for (const NightlyCase& nightly : cases) {
      Statement insert(database_.get(), path_,
                       "INSERT INTO nights VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                       "ON CONFLICT (night, suite, case_name) DO UPDATE SET "
                       "light = excluded.light, ratio = excluded.ratio, reason = excluded.reason");
      insert.bind(night).bind(judged_at).bind(old_commit).bind(new_commit).bind(nightly.suite);
      insert.bind(nightly.name).bind(nightly.machine).bind(std::string(enum_name(nightly.light)));
      insert.bind(nightly.ratio).bind(nightly.reason).step();
    }
    execute(database_.get(), path_, "COMMIT");
  } catch (...) {
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

}  // namespace headroom
