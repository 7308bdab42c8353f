# LibTorch as imported targets, out of the PyPI wheel or any other LibTorch, with no CUDA toolkit.
# (find_package(Torch) of the wheel stops where there is no nvcc.)
#
#   LibTorch::cpu    libtorch_cpu and libc10
#   LibTorch::cuda   libtorch_cuda, libc10_cuda and cudart as well; only where they and CUDA's headers are
#
# Where LibTorch::cuda is missing, LIBTORCH_WITHOUT_CUDA says why: the library or header that is not there.
#
# LIBTORCH_ROOT names the folder that holds include/ and lib/. Without it the project's own Python
# environment (.deps/python, made by ci/bootstrap) is asked, then the python3 on PATH.
include(FindPackageHandleStandardArgs)

# The version of the LibTorch in FOLDER, as it says it itself: 2.11.0+cu130. A wheel has it in
# version.py, an archive in build-version. Empty where neither is there.
function(libtorch_version folder result)
  set(version "")
  if(EXISTS ${folder}/version.py)
    file(STRINGS ${folder}/version.py line REGEX "^__version__ = ")
    string(REGEX REPLACE ".*'(.*)'.*" "\\1" version "${line}")
  elseif(EXISTS ${folder}/build-version)
    file(STRINGS ${folder}/build-version version LIMIT_COUNT 1)
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

if(NOT LIBTORCH_ROOT)
  foreach(python ${CMAKE_SOURCE_DIR}/.deps/python/bin/python3 python3)
    execute_process(
      COMMAND ${python} -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(LIBTORCH_ROOT ${found} CACHE PATH "The folder of LibTorch: it holds include/ and lib/")
      break()
    endif()
  endforeach()
endif()

find_path(LIBTORCH_INCLUDE ATen/core/Tensor.h HINTS ${LIBTORCH_ROOT}/include NO_DEFAULT_PATH)
foreach(library torch_cpu c10 torch_cuda c10_cuda)
  find_library(LIBTORCH_${library} ${library} HINTS ${LIBTORCH_ROOT}/lib NO_DEFAULT_PATH)
endforeach()

# CUDA's run-time libraries and headers: wheels beside torch's, or an installed toolkit.
file(GLOB nvidia_includes ${LIBTORCH_ROOT}/../nvidia/*/include ${LIBTORCH_ROOT}/../nvidia/*/include/cccl)
file(GLOB nvidia_libraries ${LIBTORCH_ROOT}/../nvidia/*/lib)
set(toolkit $ENV{CUDA_HOME} /usr/local/cuda)
list(JOIN toolkit " or " toolkit_names)
list(TRANSFORM toolkit APPEND /include OUTPUT_VARIABLE toolkit_includes)
list(TRANSFORM toolkit APPEND /lib64 OUTPUT_VARIABLE toolkit_libraries)
set(cuda_headers cuda_runtime_api.h crt/host_defines.h nv/target)
foreach(header IN LISTS cuda_headers)
  string(MAKE_C_IDENTIFIER ${header} name)
  find_path(LIBTORCH_CUDA_${name} ${header} HINTS ${nvidia_includes} ${toolkit_includes} NO_DEFAULT_PATH)
  list(APPEND cuda_includes ${LIBTORCH_CUDA_${name}})
endforeach()
# Of the libraries that LibTorch's headers name: wheels of CUDA 12 have a folder for each.
foreach(header cublas_v2.h cusolverDn.h cusparse.h)
  string(MAKE_C_IDENTIFIER ${header} name)
  find_path(LIBTORCH_CUDA_${name} ${header} HINTS ${nvidia_includes} ${toolkit_includes} NO_DEFAULT_PATH)
  if(LIBTORCH_CUDA_${name})
    list(APPEND cuda_includes ${LIBTORCH_CUDA_${name}})
  endif()
endforeach()
list(REMOVE_DUPLICATES cuda_includes)
find_library(LIBTORCH_CUDART NAMES libcudart.so.13 libcudart.so.12 cudart NAMES_PER_DIR
             HINTS ${nvidia_libraries} ${toolkit_libraries} NO_DEFAULT_PATH)

find_package_handle_standard_args(LibTorch REQUIRED_VARS LIBTORCH_torch_cpu LIBTORCH_c10 LIBTORCH_INCLUDE
  REASON_FAILURE_MESSAGE "Run ci/bootstrap, or set LIBTORCH_ROOT to a LibTorch 2.11, or 2.10")

if(LibTorch_FOUND AND NOT TARGET LibTorch::cpu)
  # LibTorch registers its kernels from static initialisers: without --no-as-needed they are dropped.
  list(JOIN nvidia_libraries ":" run_time_link)
  add_library(LibTorch::cpu INTERFACE IMPORTED)
  target_include_directories(LibTorch::cpu SYSTEM INTERFACE
    ${LIBTORCH_INCLUDE} ${LIBTORCH_INCLUDE}/torch/csrc/api/include)
  target_link_options(LibTorch::cpu INTERFACE
    -Wl,-rpath-link,${run_time_link})
  target_link_libraries(LibTorch::cpu INTERFACE
    -Wl,--push-state,--no-as-needed ${LIBTORCH_torch_cpu} -Wl,--pop-state ${LIBTORCH_c10})
  set(LIBTORCH_WITHOUT_CUDA "")
  if(NOT LIBTORCH_torch_cuda OR NOT LIBTORCH_c10_cuda)
    set(LIBTORCH_WITHOUT_CUDA "${LIBTORCH_ROOT}/lib holds no libtorch_cuda")
  elseif(NOT LIBTORCH_CUDART)
    set(LIBTORCH_WITHOUT_CUDA "no libcudart lies beside LibTorch or in ${toolkit_names}")
  elseif(cuda_includes MATCHES NOTFOUND)
    foreach(header IN LISTS cuda_headers)
      string(MAKE_C_IDENTIFIER ${header} name)
      if(NOT LIBTORCH_CUDA_${name})
        list(APPEND missing "${header}")
      endif()
    endforeach()
    list(JOIN missing ", " missing)
    set(LIBTORCH_WITHOUT_CUDA "CUDA's header ${missing} lies neither beside LibTorch nor in ${toolkit_names}")
    # LibTorch itself has CUDA: whoever builds so will hardly mean it.
    message(WARNING "LibTorch has CUDA, but ${LIBTORCH_WITHOUT_CUDA}. headroom is built WITHOUT CUDA: it can't plan "
      "and can't measure on a GPU. Install the header (wheels nvidia-cuda-crt and nvidia-cuda-cccl, or a CUDA toolkit "
      "and CUDA_HOME), or run ci/bootstrap with no LIBTORCH_ROOT.")
  endif()
  if(NOT LIBTORCH_WITHOUT_CUDA)
    add_library(LibTorch::cuda INTERFACE IMPORTED)
    target_include_directories(LibTorch::cuda SYSTEM INTERFACE ${cuda_includes})
    target_link_libraries(LibTorch::cuda INTERFACE LibTorch::cpu
      -Wl,--push-state,--no-as-needed ${LIBTORCH_torch_cuda} ${LIBTORCH_c10_cuda} ${LIBTORCH_CUDART}
      -Wl,--pop-state)
  endif()
endif()
