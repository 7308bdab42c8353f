// SPDX-License-Identifier: Apache-2.0
#include "src/results/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "src/core/checksum.h"
#include "src/core/error.h"
#include "src/core/json.h"

namespace headroom {
namespace {

constexpr std::size_t kChecksumDigits = 8;
constexpr std::chrono::milliseconds kLockTimeout{1000};
constexpr std::chrono::milliseconds kLockPause{20};
constexpr JsonLimits kLimits{.bytes = 64 * 1024 * 1024, .depth = 64, .values = 10'000'000};

std::string line_of(const nlohmann::ordered_json& record) {
  const std::string json = record.dump();
  return to_hex(crc32(json), kChecksumDigits) + " " + json + "\n";
}

/// The record of a line without its end. Throws JsonError.
nlohmann::ordered_json record_of(std::string_view line) {
  if (line.size() <= kChecksumDigits) throw JsonError("it is too short");
  const std::string_view json = line.substr(kChecksumDigits + 1);
  // The text is compared, not its number: "A" for "a" in it would be damage as well.
  if (line.substr(0, kChecksumDigits + 1) != to_hex(crc32(json), kChecksumDigits) + " ") {
    throw JsonError("its checksum does not fit");
  }
  return read_json(json, kLimits);
}

/// A write that power loss or a kill cut short lacks its end, or blocks of it are zeros.
bool is_torn(std::string_view line, bool has_end) {
  return !has_end || line.find('\0') != std::string_view::npos;
}

void flush_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::absolute(path).parent_path();
  const FileDescriptor descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0 || fsync(descriptor.get()) != 0) throw_errno(folder);
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
    if (is_last && is_torn(line, has_end)) break;
    try {
      journal.records.push_back(record_of(line));
    } catch (const JsonError& error) {
      throw ResultsError(Place{path, number, 1}.text() +
                         ": this record is damaged: " + error.what());
    }
    begin = end + 1;
  }
  return journal;
}

Journal::Journal(std::string path)
    : path_(std::move(path)),
      file_(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)) {
  if (file_.get() < 0) throw_errno(path_);
  lock();
  flush_folder_of(path_);
  const std::string text = read_all();
  JournalText journal = read_journal(text, path_);
  records_ = std::move(journal.records);
  bytes_ = journal.whole_bytes;
  cut_bytes_ = text.size() - bytes_;
  if (cut_bytes_ > 0 &&
      (ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0 || fdatasync(file_.get()) != 0)) {
    throw_errno(path_);
  }
}

void Journal::lock() const {
  // A runner that was killed between fork and exec leaves a child that holds its lock for a moment.
  const auto end = std::chrono::steady_clock::now() + kLockTimeout;
  while (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw_errno(path_);
    if (std::chrono::steady_clock::now() > end) {
      throw ConfigError(path_ + ": another headroom is at work on this folder");
    }
    std::this_thread::sleep_for(kLockPause);
  }
}

std::string Journal::read_all() const {
  std::string text;
  std::array<char, 64 * 1024> buffer;
  for (;;) {
    const ssize_t count =
        pread(file_.get(), buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (count < 0) throw_errno(path_);
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

void Journal::append(const nlohmann::ordered_json& record) {
  const std::string line = line_of(record);
  try {
    append_line(line);
  } catch (const std::system_error&) {
    append_line(line);  // a disk may be full for a moment only
  }
  bytes_ += line.size();
  records_.push_back(record);
}

void Journal::append_line(const std::string& line) const {
  // One write, so that a kill leaves the record whole or torn at its end. Where it comes out short,
  // the next one says why.
  std::size_t done = 0;
  ssize_t count = 1;
  while (done < line.size() && count > 0) {
    count = pwrite(file_.get(), line.data() + done, line.size() - done,
                   static_cast<off_t>(bytes_ + done));
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  if (done == line.size() && fdatasync(file_.get()) == 0) return;
  const int reason = errno;
  // Should this fail too, the torn record is cut off when the journal is opened again.
  [[maybe_unused]] const int ignored = ftruncate(file_.get(), static_cast<off_t>(bytes_));
  throw std::system_error(reason, std::generic_category(), path_);
}

namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 2;
constexpr std::size_t kMaxBytesOfWorker = std::size_t{4} << 30;
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
  return {{"format", kFormat},
          {"suite", suite.name},
          {"kind", kind},
          {"device", device},
          {"libtorch", catalog.libtorch},
          {"worker", fingerprint(read_file(worker, kMaxBytesOfWorker))},
          {"cases", std::move(cases)}};
}

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
  return difference(old_header["cases"], new_header["cases"]);
}

}  // namespace headroom
