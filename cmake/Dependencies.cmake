# What the project stands on. The system's packages come first; what it lacks is fetched, at a
# pinned version. LibTorch alone is never fetched here: ci/bootstrap installs it.
include(FetchContent)

find_package(LibTorch REQUIRED)
find_package(Threads REQUIRED)

function(headroom_dependency package repository tag)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(STATUS "${package}: not on this system, fetching ${tag}")
    FetchContent_Declare(${package} GIT_REPOSITORY ${repository} GIT_TAG ${tag} GIT_SHALLOW ON)
    FetchContent_MakeAvailable(${package})
  endif()
endfunction()

headroom_dependency(yaml-cpp https://github.com/jbeder/yaml-cpp yaml-cpp-0.9.0)
headroom_dependency(CLI11 https://github.com/CLIUtils/CLI11 v2.4.2)
headroom_dependency(fmt https://github.com/fmtlib/fmt 10.2.1)
headroom_dependency(nlohmann_json https://github.com/nlohmann/json v3.11.3)
if(HEADROOM_TESTS)
  headroom_dependency(GTest https://github.com/google/googletest v1.14.0)
  include(GoogleTest)
endif()
if(HEADROOM_BENCHMARKS)
  headroom_dependency(benchmark https://github.com/google/benchmark v1.8.4)
endif()
if(NOT TARGET yaml-cpp::yaml-cpp)  # before yaml-cpp 0.8
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
