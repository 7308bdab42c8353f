// SPDX-License-Identifier: Apache-2.0
#include "src/results/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "src/core/error.h"
#include "src/core/json.h"

namespace headroom {
namespace {

/// A write that power loss or a kill cut short lacks its end, or blocks of it are zeros. A first
/// line must be known for one of ours as well, or hold nothing at all: what is torn is cut off.
bool is_torn(std::string_view line, bool has_end, bool is_first) {
  const bool has_zeros = line.find('\0') != std::string_view::npos;
  if (has_end && !has_zeros) return false;
  const std::string_view start = line.substr(0, line.find('\0'));
  const bool is_empty = !has_end && line.find_first_not_of('\0') == std::string_view::npos;
  return is_empty || (is_first ? begins_as_header(start) : begins_as_record(start));
}

}  // namespace

JournalText read_journal(std::string_view text, const std::string& path) {
  JournalText journal;
  std::size_t& begin = journal.whole_bytes;
  for (int number = 1; begin < text.size(); ++number) {
    const std::size_t end = text.find('\n', begin);
    const bool has_end = end != std::string_view::npos;
    const std::string_view line = text.substr(begin, has_end ? end - begin : end);
    const bool is_last = !has_end || end + 1 == text.size();
    if (is_last && is_torn(line, has_end, number == 1)) break;
    try {
      if (!has_end) throw JsonError("its line has no end");
      journal.records.push_back(record_of(line));
    } catch (const JsonError& error) {
      throw ResultsError(Place{path, number, 1}.text() +
                         ": this record is damaged: " + error.what());
    }
    begin = end + 1;
  }
  return journal;
}

Journal::Journal(std::string path, std::size_t max_bytes)
    : path_(std::move(path)), max_bytes_(max_bytes), file_(uninterrupted([&] {
        return open(path_.c_str(),
                    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0644);
      })) {
  if (file_.get() < 0) throw_errno(path_);
  check_is_file();
  lock();
  flush_folder(std::filesystem::path(path_).parent_path());
  const std::string text = read_all();
  JournalText journal = read_journal(text, path_);
  records_ = std::move(journal.records);
  bytes_ = journal.whole_bytes;
  cut_bytes_ = text.size() - bytes_;
  if (cut_bytes_ > 0 && (cut() != 0 || synchronize() != 0)) throw_errno(path_);
}

void Journal::lock() const {
  if (lock_within(file_.get(), kLockPatience)) return;
  if (errno != EWOULDBLOCK) throw_errno(path_);
  throw ConfigError(path_ + ": another headroom is at work on this folder");
}

void Journal::check_is_file() const {
  struct stat status {};
  if (fstat(file_.get(), &status) != 0) throw_errno(path_);
  if (!S_ISREG(status.st_mode)) throw ConfigError(Place{.file = path_}, "not a regular file");
  if (status.st_size > static_cast<off_t>(max_bytes_)) {
    throw ResultsError(path_ + ": larger than the " + std::to_string(max_bytes_) +
                       " bytes that a journal may have");
  }
}

void Journal::check_is_in_place() const {
  struct stat here {};
  struct stat there {};
  if (fstat(file_.get(), &here) != 0) throw_errno(path_);
  const bool is_there = stat(path_.c_str(), &there) == 0;
  if (!is_there && errno != ENOENT && errno != ENOTDIR) throw_errno(path_);
  if (is_there && here.st_dev == there.st_dev && here.st_ino == there.st_ino) return;
  throw std::system_error(ENOENT, std::generic_category(),
                          path_ + ": it was moved or removed while it was written");
}

std::string Journal::read_all() const {
  std::string text;
  std::array<char, 64 * 1024> buffer;
  for (;;) {
    const ssize_t count = uninterrupted([&] {
      return pread(file_.get(), buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    });
    if (count < 0) throw_errno(path_);
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

void Journal::append(const nlohmann::ordered_json& record) {
  const std::string line = journal_line(record);
  if (line.size() > max_bytes_ - bytes_) {
    throw std::system_error(EFBIG, std::generic_category(),
                            path_ + ": with this record it would be larger than the " +
                                std::to_string(max_bytes_) + " bytes that it may have");
  }
  try {
    append_line(line);
  } catch (const std::system_error&) {
    append_line(line);  // a disk may be full for a moment only
  }
  bytes_ += line.size();
  records_.push_back(record);
  check_is_in_place();
}

int Journal::cut() const {
  return uninterrupted([&] { return ftruncate(file_.get(), static_cast<off_t>(bytes_)); });
}

int Journal::synchronize() const {
  return uninterrupted([&] { return fdatasync(file_.get()); });
}

void Journal::append_line(const std::string& line) const {
  // One write, so that a kill leaves the record whole or torn at its end. Where it comes out short,
  // the next one says why.
  std::size_t done = 0;
  ssize_t count = 1;
  while (done < line.size() && count > 0) {
    count = uninterrupted([&] {
      return pwrite(file_.get(), line.data() + done, line.size() - done,
                    static_cast<off_t>(bytes_ + done));
    });
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  if (done == line.size() && synchronize() == 0) return;
  const int reason = errno;
  // Should this fail too, the torn record is cut off when the journal is opened again.
  [[maybe_unused]] const int ignored = cut();
  throw std::system_error(reason, std::generic_category(), path_);
}

namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 2;
constexpr std::array<const char*, 5> kTexts = {"suite", "kind", "device", "libtorch", "worker"};

/// What differs between the cases of two headers; empty: nothing.
std::string difference(const Json& old_cases, const Json& cases) {
  for (const auto& [name, work] : cases.items()) {
    if (!old_cases.contains(name)) return "it has no case " + name;
    const auto list = differences(old_cases[name], work);
    if (!list.empty()) return "of its case " + name + ", " + list.front().text();
  }
  for (const auto& [name, work] : old_cases.items()) {
    if (!cases.contains(name)) return "it has a case " + name;
  }
  return "";
}

/// Whether it is work as far as what reads it relies on that.
bool is_work(const Json& json) {
  if (!json.is_object()) return false;
  if (!json.contains("techniques")) return true;
  const Json& techniques = json["techniques"];
  const auto is_technique = [](const Json& one) { return member(one, "name").is_string(); };
  return techniques.is_array() && std::ranges::all_of(techniques, is_technique);
}

bool is_whole(const Json& header) {
  for (const char* key : kTexts) {
    if (!header.contains(key) || !header[key].is_string()) return false;
  }
  return header.contains("cases") && header["cases"].is_object();
}

}  // namespace

Json make_header(const Suite& suite, const Catalog& catalog, const std::string& kind,
                 const std::string& device, const std::string& worker) {
  Json cases = Json::object();
  for (const Case& one : suite.cases) cases[one.name] = one.work();
  Json header = {{"format", kFormat},        {"suite", suite.name},          {"kind", kind},
                 {"device", device},         {"libtorch", catalog.libtorch}, {"worker", worker},
                 {"cases", std::move(cases)}};
  if (suite.memory_only && kind == "measured") header[kMemoryOnly] = true;
  return header;
}

bool is_memory_only(const Json& header) { return member(header, kMemoryOnly) == true; }

void check_header(const Json& header, const std::string& journal) {
  const std::string where = Place{journal, 1, 1}.text();
  if (!header.is_object()) throw ResultsError(where + ": this is no header of a journal");
  const Json format = header.value("format", Json());
  if (format != kFormat) {
    throw ResultsError(where + ": these results have the format " + format.dump() +
                       ", this headroom reads the format " + std::to_string(kFormat));
  }
  if (!is_whole(header)) throw ResultsError(where + ": this is no header of a journal");
  const Json& cases = header["cases"];
  if (cases.size() > Suite::kMaxCases) {
    throw ResultsError(where + ": more than " + std::to_string(Suite::kMaxCases) + " cases");
  }
  for (const auto& [name, work] : cases.items()) {
    if (is_work(work)) continue;
    throw ResultsError(where + ": the case " + name +
                       " is no object with a list of techniques, each with a name");
  }
}

std::string header_difference(const Json& old_header, const Json& new_header) {
  for (const char* key : kTexts) {
    if (old_header[key] == new_header[key]) continue;
    return JsonDifference{key, old_header[key], new_header[key]}.text();
  }
  if (is_memory_only(old_header) != is_memory_only(new_header)) {
    return JsonDifference{kMemoryOnly, is_memory_only(old_header), is_memory_only(new_header)}
        .text();
  }
  for (const char* key : {kDryRunKey, kLibrariesKey}) {
    const Json before = old_header.value(key, Json());
    const Json now = new_header.value(key, Json());
    if (before.is_null() || now.is_null() || before == now) continue;
    return JsonDifference{key, before, now}.text();
  }
  return difference(old_header["cases"], new_header["cases"]);
}

}  // namespace headroom
