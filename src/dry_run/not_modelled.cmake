cmake_minimum_required(VERSION 3.22)
# Writes OUTPUT: a weak definition, which throws, of each function that the libraries of LIBTORCH
# import from one of CUDA's. What the dry run models is defined beside it and wins.
file(GLOB importers ${LIBTORCH}/lib/libtorch*.so ${LIBTORCH}/lib/libc10*.so)
# The driver, which no wheel carries: what LibTorch imports from it, and what it looks up by name and
# does not start without.
file(GLOB driver_importers ${LIBTORCH}/lib/libcaffe2_nvrtc.so)
file(GLOB driver_headers ${LIBTORCH}/include/c10/cuda/driver_api.h)
# Not cupti, nvrtc, nvshmem and cufile: these work, or fail, without a device as with one.
set(stood_in cudart cublas cublasLt cudnn cufft cusolver cusparse cusparseLt nccl)

function(symbols result flag)
  execute_process(COMMAND ${NM} --dynamic ${flag} ${ARGN} OUTPUT_VARIABLE text
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[A-Z] _*[a-zA-Z0-9_]+" list "${text}")
  list(TRANSFORM list REPLACE "^[A-Z] " "")
  list(REMOVE_DUPLICATES list)
  set(${result} "${list}" PARENT_SCOPE)
endfunction()

set(cuda_libraries)
foreach(library ${stood_in})
  file(GLOB found ${LIBTORCH}/lib/lib${library}.so.* ${LIBTORCH}/../nvidia/*/lib/lib${library}.so.*
       /usr/local/cuda/lib64/lib${library}.so.*)
  if(found)
    list(GET found 0 first)
    list(APPEND cuda_libraries ${first})
  endif()
endforeach()

symbols(imported --undefined-only ${importers})
symbols(exported --defined-only ${cuda_libraries})
if(driver_importers)
  symbols(driver --undefined-only ${driver_importers})
endif()
if(driver_headers)
  file(READ ${driver_headers} text)
  string(REGEX MATCHALL "_\\(cu[A-Za-z0-9_]+" looked_up "${text}")
  list(TRANSFORM looked_up REPLACE "^_\\(" "")
endif()
set(driver ${driver} ${looked_up})
list(FILTER driver INCLUDE REGEX "^cu[A-Z]")
list(APPEND imported ${driver})
list(APPEND exported ${driver})
list(REMOVE_DUPLICATES imported)
set(text "namespace headroom::dry_run {
[[noreturn]] void not_modelled(const char* function);
}
#define NOT_MODELLED(NAME)                                                       \\
  extern \"C\" __attribute__((visibility(\"default\"), weak)) void NAME() {         \\
    headroom::dry_run::not_modelled(#NAME);                                      \\
  }
")
list(SORT imported)
foreach(name ${imported})
  if(name IN_LIST exported)
    string(APPEND text "NOT_MODELLED(${name})\n")
  endif()
endforeach()
file(WRITE ${OUTPUT} "${text}")
