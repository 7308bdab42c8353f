cmake_minimum_required(VERSION 3.22)
# Writes OUTPUT: a weak definition, which throws, of each function that the libraries of LIBTORCH
# import from the driver, which no wheel carries, or look up by name and do not start without. What
# the dry run models is defined beside it and wins.
file(GLOB importers ${LIBTORCH}/lib/libcaffe2_nvrtc.so)
file(GLOB headers ${LIBTORCH}/include/c10/cuda/driver_api.h)

# What later versions look up: 2.12 to 2.15.
set(functions cuMemGetAddressRange)
if(importers)
  execute_process(COMMAND ${NM} --dynamic --undefined-only ${importers} OUTPUT_VARIABLE text
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "U cu[A-Z][a-zA-Z0-9_]+" imported "${text}")
  list(TRANSFORM imported REPLACE "^U " "")
  list(APPEND functions ${imported})
endif()
if(headers)
  file(READ ${headers} text)
  string(REGEX MATCHALL "_\\(cu[A-Za-z0-9_]+" looked_up "${text}")
  list(TRANSFORM looked_up REPLACE "^_\\(" "")
  list(APPEND functions ${looked_up})
endif()
list(REMOVE_DUPLICATES functions)
list(SORT functions)

set(text "namespace headroom::dry_run {
[[noreturn]] void not_modelled(const char* function);
}
#define NOT_MODELLED(NAME)                                                       \\
  extern \"C\" __attribute__((visibility(\"default\"), weak)) void NAME() {         \\
    headroom::dry_run::not_modelled(#NAME);                                      \\
  }
")
foreach(name ${functions})
  string(APPEND text "NOT_MODELLED(${name})\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
