// SPDX-License-Identifier: Apache-2.0
// What the program prints where all is well.
#include "src/cli/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "src/cli/summary.h"
#include "src/core/text.h"
#include "tests/runner/program.h"

namespace headroom {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::vector<std::string>& arguments) {
  const Ended ended = run_program(arguments);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return Json::parse(ended.out);
}

TEST(Output, helps_everywhere) {
  for (const std::string command : {"run", "list", "inspect", "forward", "doctor", "plan"}) {
    const Ended ended = run_program({command, "--help"});
    EXPECT_EQ(ended.code, 0);
    EXPECT_NE(ended.out.find(command), std::string::npos);
  }
  EXPECT_EQ(run_program({"--version"}).out, "headroom 0.1.0 (commit test, LibTorch 2.11.0)\n");
}

TEST(Output, lists_what_the_catalog_holds) {
  EXPECT_EQ(json_of({"list", "models", "--json"}).at(1),
            Json({{"name", "segv"}, {"summary", "SIGSEGV in the phase memory"}}));
  EXPECT_EQ(json_of({"list", "data", "--json"}).size(), 2U);
  EXPECT_EQ(json_of({"list", "techniques", "--json"}).at(1).at("loss_tolerance"), 0.02);
  EXPECT_EQ(json_of({"list", "columns", "--json"}).at(0).at("name"), "suite");
  EXPECT_TRUE(json_of({"list", "schema"}).contains("properties"));
}

TEST(Output, of_list_cases_is_the_cases_and_starts_nothing) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok", "abort"}, "{silence_s: 9}"));
  const std::vector<std::string> call = {"run", suite, "--list-cases", "--set", "train.seed=5"};
  const Ended ended = run_program(call);
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.out,
            "suite  case   model  techniques\n"
            "test   ok     ok     none\n"
            "test   abort  abort  none\n");
  const Json cases = json_of({"run", suite, "--list-cases", "--json", "--set", "train.seed=5"});
  EXPECT_EQ(cases.at(0).at("train").at("seed"), 5);
  EXPECT_EQ(cases.at(0).at("limits").at("silence_s"), 9);
}

TEST(Output, of_a_run_is_a_table_or_rows) {
  const TemporaryFolder folder;
  const std::string text = suite_of({"ok"}, "{silence_s: 20}") +
                           "  - {name: half, model: {name: ok}, techniques: [exact]}\n";
  const std::string suite = folder.write("suite.yaml", text);
  const Ended ended = run_program({"run", suite, "--out", folder / "out"});
  EXPECT_EQ(ended.out,
            "case  status      peak   saved  step time  reason\n"
            "ok    ok      7.63 MiB            0.01 ms\n"
            "half  ok      3.81 MiB  50.0 %    0.01 ms\n" +
                folder / "out/results.csv" + "\n");
  EXPECT_EQ(ended.err,
            "test [1/2] ok: ok, 7.63 MiB, 0.01 ms a step\n"
            "test [2/2] half: ok, 3.81 MiB, 0.01 ms a step\n");
  const Json rows = json_of({"run", suite, "--out", folder / "json", "--json"});
  EXPECT_EQ(rows.at(1).at("techniques"), "exact");
  EXPECT_EQ(rows.at(1).at("run_peak_allocated_bytes"), 4'000'000);
}

/// What a program writes to a terminal that is its standard error.
std::string said_to_a_terminal(const std::vector<std::string>& arguments) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  EXPECT_EQ(grantpt(terminal) | unlockpt(terminal), 0);
  const std::string name = ptsname(terminal);
  const int kept = open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);  // keeps what is said
  EXPECT_EQ(
      run_program(arguments, [&] { dup2(open(name.c_str(), O_RDWR | O_NOCTTY), STDERR_FILENO); })
          .code,
      0);
  std::string said(65536, '\0');  // more than a terminal holds
  said.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(terminal, said.data(), 65536))));
  close(kept);
  close(terminal);
  return said;
}

TEST(Output, of_a_run_tells_a_terminal_the_minutes_that_are_left) {
  const TemporaryFolder folder;
  const std::string text = suite_of({"ok"}, "{silence_s: 20}") +
                           "  - {name: half, model: {name: ok}, techniques: [exact]}\n";
  const std::string said =
      said_to_a_terminal({"run", folder.write("suite.yaml", text), "--out", folder / "out"});
  const std::size_t second = said.find("test [2/2] half");
  ASSERT_NE(second, std::string::npos) << said;
  EXPECT_EQ(said.substr(0, second).find("left"), std::string::npos) << said;
  EXPECT_NE(said.find(", about 1 min left", second), std::string::npos) << said;
  EXPECT_TRUE(said.ends_with("half: \x1b[32mok, 3.81 MiB, 0.01 ms a step\x1b[0m\r\n")) << said;
}

TEST(Output, of_a_run_names_the_cases_whose_products_are_emulated) {
  const auto row = [](const std::string& name, const std::string& precision) {
    return Row{{"case", name},
               {"status", "ok"},
               {"precision", precision},
               {"cpu_bfloat16", "emulated"},
               {"cpu_float16", "native"}};
  };
  std::vector<Row> rows = {row("plain", "float32"), row("mixed", "mixed_bfloat16"),
                           row("other", "mixed_float16"), row("half", "bfloat16")};
  const std::string note =
      "Emulated: this CPU has no instructions for products of bfloat16, so these step times are "
      "not the technique's: mixed, half\n";
  EXPECT_TRUE(format_summary(rows).ends_with("\n" + note)) << format_summary(rows);
  for (Row& each : rows) each["cpu_bfloat16"] = "native";
  EXPECT_EQ(format_summary(rows).find("Emulated"), std::string::npos);
  for (Row& each : rows) each.erase("cpu_bfloat16");  // as journals of before have it
  EXPECT_EQ(format_summary(rows).find("Emulated"), std::string::npos);
}

TEST(Output, of_a_run_and_a_plan_has_steps_beside_an_update_of_the_published_run) {
  Row row = {{"case", "one"},
             {"status", "ok"},
             {"kind", "planned"},
             {"step_time_estimate_ns", 50'000'000},
             {"published_run_time_s", 60},
             {"published_updates", 300}};
  EXPECT_TRUE(format_summary({row}).ends_with("  200.00 ms  about 50.00 ms   25 %\n"))
      << format_summary({row});
  row["kind"] = "measured";
  row["step_time_median_ns"] = 250'000'000;
  EXPECT_TRUE(format_summary({row}).ends_with("  200.00 ms  250.00 ms  125 %\n"))
      << format_summary({row});
  row.erase("published_updates");
  EXPECT_EQ(format_summary({row}).find("published run"), std::string::npos);
}

TEST(Output, of_a_run_and_a_plan_is_one_table_that_leaves_out_what_no_row_has) {
  const Row plain = {{"case", "plain"},
                     {"status", "ok"},
                     {"model", "vit"},
                     {"techniques", "none"},
                     {"run_peak_allocated_bytes", 4 << 20},
                     {"step_time_median_ns", 2'000'000}};
  Row half = plain;
  half.update({{"case", "half"},
               {"techniques", "bfloat16"},
               {"run_peak_allocated_bytes", 3 << 20},
               {"step_time_median_ns", 1'000'000}});
  EXPECT_EQ(format_summary({plain, half}),
            "case   status      peak   saved  step time  reason\n"
            "plain  ok      4.00 MiB            2.00 ms\n"
            "half   ok      3.00 MiB  25.0 %    1.00 ms\n");
  half.erase("step_time_median_ns");
  half.update({{"fits", "yes"}, {"step_time_estimate_ns", 1'500'000}});
  EXPECT_EQ(format_summary({plain, half}),
            "case   status  fits      peak   saved      step time  reason\n"
            "plain  ok            4.00 MiB                2.00 ms\n"
            "half   ok      yes   3.00 MiB  25.0 %  about 1.50 ms\n");
}

TEST(Output, of_an_export_goes_to_standard_output_or_a_file) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok", "abort"}, "{silence_s: 9}"));
  EXPECT_EQ(run_program({"run", suite, "--out", folder / "out/1"}).code, 1);
  EXPECT_EQ(run_program({"run", suite, "--out", folder / "out/2"}).code, 1);
  const std::vector<std::string> call = {"export", folder / "out", "--format", "bencher"};
  const Json exported = json_of(call);
  EXPECT_EQ(exported["test/cpu/ok"]["run_peak_allocated_bytes"],
            Json({{"value", 8e6}, {"lower_value", 8e6}, {"upper_value", 8e6}}));
  EXPECT_EQ(exported["test/cpu"]["cases_not_ok"]["value"], 1);
  const std::string file = folder / "bencher.json";
  const Ended ended = run_program({"export", folder / "out", "--format", "bencher", "--out", file});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(Json::parse(read_text(file)), exported);
}

/// What has come in a pipe that was opened before.
std::string received(int pipe) {
  std::string text(65536, '\0');  // as much as a pipe holds
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(pipe, text.data(), 65536))));
  return text;
}

TEST(Output, of_an_export_goes_into_what_is_named_and_replaces_files_alone) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok"}, "{silence_s: 9}"));
  ASSERT_EQ(run_program({"run", suite, "--out", folder / "out"}).code, 0);
  const auto export_to = [&](const std::string& name) {
    return run_program({"export", folder / "out", "--format", "bencher", "--out", folder / name});
  };
  EXPECT_EQ(export_to("file").code, 0);
  const std::string text = read_text(folder / "file");
  ASSERT_FALSE(text.empty());

  std::filesystem::create_symlink(folder.write("there.json", "old"), folder / "link");
  std::filesystem::create_symlink("new.json", folder / "to_nothing");
  for (const auto& [link, file] : {std::pair("link", "there.json"), {"to_nothing", "new.json"}}) {
    EXPECT_EQ(export_to(link).code, 0);
    EXPECT_TRUE(std::filesystem::is_symlink(folder / link));
    EXPECT_EQ(read_text(folder / file), text);
  }

  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const int pipe = open((folder / "pipe").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  EXPECT_EQ(export_to("pipe").code, 0);
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
  EXPECT_EQ(received(pipe), text);
  close(pipe);

  // As /dev/stdout is.
  std::filesystem::create_symlink("/proc/self/fd/1", folder / "stdout");
  EXPECT_EQ(export_to("stdout").out, text);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "stdout"));

  EXPECT_EQ(export_to("out").err, "headroom: " + folder / "out" +
                                      ": can't be written; allowed: a file, a pipe, a character "
                                      "device\n");
}

TEST(Output, of_an_export_destroys_no_device) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok"}, "{silence_s: 9}"));
  ASSERT_EQ(run_program({"run", suite, "--out", folder / "out"}).code, 0);
  // As /dev/null, and a disk that no driver has.
  if (mknod((folder / "null").c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0 ||
      mknod((folder / "disk").c_str(), S_IFBLK | 0600, makedev(240, 99)) != 0) {
    GTEST_SKIP() << "no device can be made here";
  }
  for (const auto& [name, code] : {std::pair("null", 0), {"disk", 2}}) {
    for (const std::vector<std::string>& call :
         {std::vector<std::string>{"export", folder / "out", "--format", "junit"},
          std::vector<std::string>{"report", folder / "out"}}) {
      std::vector<std::string> arguments = call;
      arguments.insert(arguments.end(), {"--out", folder / name});
      EXPECT_EQ(run_program(arguments).code, code) << name;
    }
  }
  EXPECT_TRUE(std::filesystem::is_character_file(folder / "null"));
  EXPECT_TRUE(std::filesystem::is_block_file(folder / "disk"));
}

TEST(Output, of_a_run_in_which_nothing_fits_is_that_the_machine_lacks_it) {
  const TemporaryFolder folder;
  const auto code_of = [&](const std::vector<std::string>& cases) {
    static int runs = 0;
    const std::string suite = folder.write("suite.yaml", suite_of(cases, "{silence_s: 20}"));
    return run_program({"run", suite, "--out", folder / std::to_string(++runs)}).code;
  };
  EXPECT_EQ(code_of({"out_of_memory"}), 4);
  EXPECT_EQ(code_of({"out_of_memory", "unsupported"}), 4);
  EXPECT_EQ(code_of({"out_of_memory", "ok"}), 0);
  EXPECT_EQ(code_of({"out_of_memory", "failed"}), 1);
}

TEST(Output, of_a_report_is_one_file) {
  const TemporaryFolder folder;
  const std::string suite =
      folder.write("suite.yaml", suite_of({"ok", "out_of_memory"}, "{silence_s: 20}"));
  const std::string out = folder / "out";
  run_program({"run", suite, "--out", out});
  const std::string page = folder / "page.html";
  const Ended ended = run_program({"report", out, "--out", page});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, page + "\n");
  const std::string html = read_text(page);
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  for (const std::string part : {"<b>2</b> cases", "<b>1</b> ok", "<b>out_of_memory</b>"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
}

TEST(Output, of_a_report_of_no_results_says_so_and_writes_nothing) {
  const TemporaryFolder folder;
  const std::string page = folder / "page.html";
  for (const std::string& results : {folder / "none", folder.path().string()}) {
    const Ended ended = run_program({"report", results, "--out", page});
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find(results), std::string::npos) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(page));
  }
}

TEST(Output, of_several_suites_goes_to_a_folder_each) {
  const TemporaryFolder folder;
  const std::string one = folder.write(
      "one.yaml", "suite: one\ncases: [{name: a, model: {name: ok}, data: {name: digits}}]\n");
  const std::string two = folder.write(
      "two.yaml", "suite: two\ncases: [{name: a, model: {name: ok}, data: {name: digits}}]\n");
  EXPECT_EQ(run_program({"run", one, two, "--out", folder / "out"}).code, 0);
  EXPECT_EQ(read_rows(folder / "out/one").size(), 1U);
  EXPECT_EQ(read_rows(folder / "out/two").size(), 1U);
}

TEST(Output, of_the_effective_suite_gives_the_same_cases) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok"}, "{silence_s: 20}"));
  EXPECT_EQ(run_program({"run", suite, "--out", folder / "out", "--set", "train.seed=5"}).code, 0);
  EXPECT_EQ(json_of({"run", folder / "out/suite.yaml", "--list-cases", "--json"}),
            json_of({"run", suite, "--list-cases", "--json", "--set", "train.seed=5"}));
}

TEST(Output, of_the_worker_is_passed_on) {
  EXPECT_EQ(json_of({"inspect", "ok", "--image-size", "32", "--json"}).at("asked").at("image_size"),
            32);
  EXPECT_EQ(json_of({"inspect", "ok", "--layers", "3", "--heads", "2", "--json"})
                .at("asked")
                .at("model")
                .dump(),
            R"({"name":"ok","num_classes":10,"attention":"eager","layers":3,"heads":2})");
  EXPECT_NE(run_program({"inspect", "ok"}).out.find("head.weight  [10,4]    160"),
            std::string::npos)
      << run_program({"inspect", "ok"}).out;
  EXPECT_EQ(json_of({"doctor", "--json"}).at("machine").at("gpus"), Json::array());
  const TemporaryFolder folder;
  const std::string file = folder.write("w.safetensors", "");
  const Json asked =
      json_of({"forward", "ok", "--weights", file, "--inputs", file, "--output", "o", "--json"})
          .at("asked");
  EXPECT_EQ(asked.at("weights"), file);
  EXPECT_EQ(asked.at("model").at("attention"), "eager");
  const Json without = json_of({"inspect", "mixes_samples", "--json"}).at("asked");
  EXPECT_EQ(without.at("model").at("attention"), "automatic");
}

TEST(Output, of_a_path_that_is_no_utf_8_is_refused_by_name) {
  const TemporaryFolder folder;
  const std::string odd = folder / "r\xe9";
  std::filesystem::create_directory(odd);
  const std::string file = folder.write("r\xe9/w.safetensors", "");
  const std::string suite = folder.write("s.yaml", suite_text(1, one_case("a", "ok")));
  const std::vector<std::vector<std::string>> calls = {
      {"run", suite, "--out", folder / "out"},  // where ranks meet is in TMPDIR
      {"run", suite, "--out", odd + "/out", "--snapshot"},
      {"forward", "ok", "--weights", file, "--inputs", file, "--output", "o"}};
  for (const auto& call : calls) {
    const Ended ended = run_program(call, [&] { setenv("TMPDIR", odd.c_str(), 1); });
    EXPECT_EQ(ended.code, 2) << call[0];
    EXPECT_TRUE(ended.err.starts_with("headroom: " + folder / "r\\xe9/")) << ended.err;
    EXPECT_TRUE(ended.err.ends_with(": workers can't be told of it; allowed: a path in UTF-8\n"))
        << ended.err;
  }
}

TEST(Output, comes_within_20_ms) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer itself takes longer";
#endif
  auto best = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 10; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run_program({"list", "techniques"});
    best = std::min(best, std::chrono::steady_clock::now() - start);
  }
  EXPECT_LT(best, std::chrono::milliseconds(20));
}

TEST(Output, does_not_depend_on_the_locale) {
  const TemporaryFolder folder;
  const std::string suite = folder.write("suite.yaml", suite_of({"ok"}, "{silence_s: 20}"));
  const auto german = [] { setenv("LC_ALL", "de_DE.UTF-8", 1); };
  EXPECT_EQ(run_program({"run", suite, "--out", folder / "a"}, german).code, 0);
  EXPECT_EQ(read_rows(folder / "a").at("ok").at("samples_per_second"), "333333.3333333333");
}

TEST(Output, can_not_steer_a_terminal) { EXPECT_EQ(printable("a\x1b[2Jb\n"), "a\\x1b[2Jb\\x0a"); }

TEST(Output, of_verify_is_json_whatever_bytes_a_path_holds) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "r\xe9sultats");
  folder.write("r\xe9sultats/journal.jsonl", "");
  const Ended ended = run_program({"verify", folder.path(), "--json"});
  EXPECT_EQ(ended.code, 3) << ended.err;
  const Json findings = Json::parse(ended.out).at("findings");
  EXPECT_EQ(findings.at(0).at("place"), folder / "r\ufffdsultats/journal.jsonl");
  EXPECT_NE(run_program({"verify", folder.path()}).out.find("r\\xe9sultats/journal.jsonl: wrong:"),
            std::string::npos);
}

}  // namespace
}  // namespace headroom
