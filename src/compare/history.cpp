// SPDX-License-Identifier: Apache-2.0
#include <sqlite3.h>

#include <string_view>

#include "src/compare/night.h"
#include "src/core/enum_names.h"
#include "src/core/error.h"

namespace headroom {
namespace {

constexpr int kBusyTimeoutMs = 10'000;  // while another process writes

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
    return reinterpret_cast<const char*>(sqlite3_column_text(statement_, 0));
  }

 private:
  void check(int code) const {
    if (code == SQLITE_OK) return;
    throw ResultsError(path_ + ": the history can't be used: " + sqlite3_errmsg(database_));
  }

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
  if (code != SQLITE_OK) {
    throw ResultsError(path + ": the history can't be opened: " + sqlite3_errmsg(database));
  }
  sqlite3_busy_timeout(database, kBusyTimeoutMs);
  execute(database, path_,
          "CREATE TABLE IF NOT EXISTS nights (night INTEGER NOT NULL, started_at TEXT NOT NULL, "
          "old_commit TEXT NOT NULL, new_commit TEXT NOT NULL, suite TEXT NOT NULL, "
          "case_name TEXT NOT NULL, machine TEXT NOT NULL, light TEXT NOT NULL, ratio REAL, "
          "reason TEXT NOT NULL, PRIMARY KEY (night, suite, case_name))");
}

History::~History() = default;

int History::yellow_nights(const NightlyCase& like) const {
  Statement select(database_.get(), path_,
                   "SELECT light FROM nights WHERE suite = ? AND case_name = ? AND machine = ? "
                   "ORDER BY night DESC");
  select.bind(like.suite).bind(like.name).bind(like.machine);
  int count = 0;
  while (select.step() && select.text() == enum_name(Light::yellow)) ++count;
  return count;
}

void History::add(const std::string& started_at, const std::string& old_commit,
                  const std::string& new_commit, const std::vector<NightlyCase>& cases) {
  execute(database_.get(), path_, "BEGIN IMMEDIATE");
  try {
    Statement last(database_.get(), path_, "SELECT coalesce(max(night), 0) FROM nights");
    last.step();
    const double night = last.number() + 1;
    for (const NightlyCase& nightly : cases) {
      Statement insert(database_.get(), path_,
                       "INSERT INTO nights VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
      insert.bind(night).bind(started_at).bind(old_commit).bind(new_commit).bind(nightly.suite);
      insert.bind(nightly.name).bind(nightly.machine).bind(std::string(enum_name(nightly.light)));
      insert.bind(nightly.ratio).bind(nightly.reason).step();
    }
    execute(database_.get(), path_, "COMMIT");
  } catch (const ResultsError&) {
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

}  // namespace headroom
