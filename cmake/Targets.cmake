# The helpers that every CMakeLists.txt of the project uses, and what they agree on.
add_library(headroom_flags INTERFACE)
target_include_directories(headroom_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
target_compile_options(headroom_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # "literal" + std::string: GCC 12 warns of an overlap that can't be (its bug 105651).
  target_compile_options(headroom_flags INTERFACE -Wno-restrict)
endif()
if(HEADROOM_SANITIZE)
  target_compile_options(headroom_flags INTERFACE
    -fsanitize=${HEADROOM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS)
  target_link_options(headroom_flags INTERFACE -fsanitize=${HEADROOM_SANITIZE})
endif()

# The LibTorch that the worker's side is built with: with CUDA where it has it; else
# HEADROOM_WITHOUT_CUDA says why not, for the messages of the command line.
add_library(headroom_libtorch INTERFACE)
if(HEADROOM_CUDA AND TARGET LibTorch::cuda)
  target_link_libraries(headroom_libtorch INTERFACE LibTorch::cuda)
  target_compile_definitions(headroom_libtorch INTERFACE HEADROOM_CUDA)
  set(HEADROOM_WITHOUT_CUDA "")
else()
  target_link_libraries(headroom_libtorch INTERFACE LibTorch::cpu)
  set(HEADROOM_WITHOUT_CUDA "${LIBTORCH_WITHOUT_CUDA}")
  if(NOT HEADROOM_CUDA)
    set(HEADROOM_WITHOUT_CUDA "HEADROOM_CUDA is off")
  endif()
endif()

# headroom_library(NAME core SOURCES a.cpp b.cpp DEPS other_libraries): one folder, one library.
# Includes are written from the root of the project. What has no tensors is compiled with -O1, in two
# thirds of the time: it reads and writes text.
function(headroom_library)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;DEPS" ${ARGN})
  add_library(headroom_${arg_NAME} STATIC ${arg_SOURCES})
  target_link_libraries(headroom_${arg_NAME} PUBLIC headroom_flags ${arg_DEPS})
  if(NOT headroom_libtorch IN_LIST arg_DEPS)
    target_compile_options(headroom_${arg_NAME} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# headroom_test(NAME core SOURCES a_test.cpp DEPS libraries [WHOLE] [SHARDS count] [TIMEOUT seconds]): a
# test program, with one CTest entry for each test case. WHOLE: one entry for all of them, where every
# start costs the loading of LibTorch, or where tests share what one of them made. SHARDS: so many
# entries in place of one, which run side by side.
function(headroom_test)
  cmake_parse_arguments(arg "WHOLE" "NAME;SHARDS;TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${arg_NAME}_test ${arg_SOURCES})
  target_compile_options(${arg_NAME}_test PRIVATE -O1)  # compiled more often than run
  target_link_libraries(${arg_NAME}_test PRIVATE ${arg_DEPS} GTest::gtest_main)
  target_compile_definitions(${arg_NAME}_test PRIVATE
    HEADROOM_SOURCE_DIR="${CMAKE_SOURCE_DIR}" HEADROOM_BUILD_DIR="${CMAKE_BINARY_DIR}")
  # What is long is started first (COST).
  set(properties TIMEOUT ${arg_TIMEOUT} COST ${arg_TIMEOUT})
  if(arg_SHARDS)
    foreach(shard RANGE 1 ${arg_SHARDS})
      math(EXPR index "${shard} - 1")
      add_test(NAME ${arg_NAME}_${shard} COMMAND ${arg_NAME}_test)
      set_tests_properties(${arg_NAME}_${shard} PROPERTIES ${properties}
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${index}")
    endforeach()
  elseif(arg_WHOLE)
    add_test(NAME ${arg_NAME} COMMAND ${arg_NAME}_test)
    set_tests_properties(${arg_NAME} PROPERTIES ${properties})
  else()
    gtest_discover_tests(${arg_NAME}_test TEST_PREFIX ${arg_NAME}. NO_PRETTY_VALUES
      DISCOVERY_MODE PRE_TEST
      DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${arg_TIMEOUT})
  endif()
endfunction()

# headroom_benchmark(NAME ledger SOURCES a.cpp DEPS libraries): one program of Google Benchmark. DEPS
# names the library that holds its main function, where no source does.
function(headroom_benchmark)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;DEPS" ${ARGN})
  add_executable(${arg_NAME}_benchmark ${arg_SOURCES})
  target_link_libraries(${arg_NAME}_benchmark PRIVATE ${arg_DEPS} benchmark::benchmark)
endfunction()

# headroom_embed(TARGET FILE SYMBOL): makes the bytes of FILE available in TARGET as
# `namespace headroom { extern const std::string_view SYMBOL; }`.
function(headroom_embed target file symbol)
  set(source ${CMAKE_BINARY_DIR}/generated/embedded/${symbol}.cpp)
  set(assembly ${CMAKE_BINARY_DIR}/generated/embedded/${symbol}.S)
  file(CONFIGURE OUTPUT ${assembly} @ONLY CONTENT
".section .rodata
.global headroom_embedded_@symbol@_begin
.global headroom_embedded_@symbol@_end
headroom_embedded_@symbol@_begin:
.incbin \"@file@\"
headroom_embedded_@symbol@_end:
.byte 0
.section .note.GNU-stack,\"\",%progbits
")
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
"#include <string_view>
extern \"C\" const char headroom_embedded_@symbol@_begin[];
extern \"C\" const char headroom_embedded_@symbol@_end[];
namespace headroom {
extern const std::string_view @symbol@;
const std::string_view @symbol@(headroom_embedded_@symbol@_begin,
                                headroom_embedded_@symbol@_end - headroom_embedded_@symbol@_begin);
}
")
  set_source_files_properties(${assembly} PROPERTIES OBJECT_DEPENDS ${file})
  target_sources(${target} PRIVATE ${source} ${assembly})
endfunction()
