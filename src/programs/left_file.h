// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

// What a script of the dry run left in `folder` of a process on its device, as JSON. The program
// may have written over it.
namespace headroom {

/// The file PROCESS.DEVICE and `ending`. `report`: of the process. Null: there is none that can be
/// read.
nlohmann::ordered_json read_left(const nlohmann::ordered_json& report,
                                 const std::filesystem::path& folder, const std::string& ending);

/// Whether it is an object of these members alone: whole numbers from 0 up, and texts.
bool is_object_of(const nlohmann::ordered_json& json, std::initializer_list<const char*> numbers,
                  std::initializer_list<const char*> texts);

}  // namespace headroom
