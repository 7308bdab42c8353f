# cmake --install FOLDER --prefix P: a tree that runs wherever it is moved to.
#
#   bin/headroom            a link to the next
#   lib/headroom/program    headroom, headroom-worker and dry_run/; lib/ has what they need of the
#                           system's libraries, but for glibc's
#   lib/headroom/torch      a link to the LibTorch of the build (component libtorch)
#   share                   configs, licences, completion of bash, manual page
#
# The programs find LibTorch in ../torch, from their own folder. So they do in a wheel, beside torch.
set(program lib/headroom/program)

# CUDA's run-time library lies in a wheel beside torch's, or in a toolkit, which has a fixed place.
set(worker_rpath "$ORIGIN/lib" "$ORIGIN/../torch/lib")
if(TARGET headroom_dry_run)
  get_filename_component(cudart_folder ${LIBTORCH_CUDART} DIRECTORY)
  file(RELATIVE_PATH from_libtorch ${LIBTORCH_ROOT} ${cudart_folder})
  if(from_libtorch MATCHES "^(\\.\\./nvidia|lib)")
    set(cudart_folder "$ORIGIN/../torch/${from_libtorch}")
  endif()
  list(APPEND worker_rpath ${cudart_folder})
endif()
set_target_properties(headroom PROPERTIES INSTALL_RPATH "$ORIGIN/lib")
set_target_properties(headroom-worker PROPERTIES INSTALL_RPATH "${worker_rpath}")

install(TARGETS headroom headroom-worker RUNTIME_DEPENDENCY_SET headroom_libraries
        RUNTIME DESTINATION ${program})
install(RUNTIME_DEPENDENCY_SET headroom_libraries
        PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|util)\\.so" "^ld-linux"
                            "^lib(torch|c10|cudart)"
        LIBRARY DESTINATION ${program}/lib)
if(TARGET headroom_dry_run)
  install(TARGETS headroom_dry_run headroom_dry_run_nvml headroom_thread_keys
          LIBRARY DESTINATION ${program}/dry_run)
  install(TARGETS headroom_nvidia_smi RUNTIME DESTINATION ${program}/dry_run/bin)
endif()

# Which LibTorch the worker needs; src/cli/needed_libtorch.h reads it.
libtorch_version(${LIBTORCH_ROOT} version)
if(version)
  file(WRITE ${CMAKE_BINARY_DIR}/generated/needed_libtorch "${version}\n")
  install(FILES ${CMAKE_BINARY_DIR}/generated/needed_libtorch DESTINATION ${program})
endif()

install(DIRECTORY configs DESTINATION share/headroom)
install(FILES LICENSE DESTINATION share/doc/headroom)
install(FILES models/data/digits.LICENSE models/data/novels.LICENSE
        DESTINATION share/doc/headroom/data)

# Those of the system's libraries, where Debian's packages have them.
install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  file(GLOB libraries RELATIVE \"\${prefix}/${program}/lib\" \"\${prefix}/${program}/lib/*\")
  list(TRANSFORM libraries PREPEND */${CMAKE_LIBRARY_ARCHITECTURE}/)
  execute_process(COMMAND dpkg-query --search \${libraries} OUTPUT_VARIABLE found ERROR_QUIET)
  string(REGEX MATCHALL \"[^:\\n]+:[^\\n]+\" lines \"\${found}\")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE :.* \"\" package \"\${line}\")
    if(EXISTS /usr/share/doc/\${package}/copyright)
      file(COPY_FILE /usr/share/doc/\${package}/copyright
                     \"\${prefix}/share/doc/headroom/\${package}.LICENSE\")
    endif()
  endforeach()")

install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  file(MAKE_DIRECTORY \"\${prefix}/bin\" \"\${prefix}/share/man/man1\"
                      \"\${prefix}/share/bash-completion/completions\")
  file(CREATE_LINK ../${program}/headroom \"\${prefix}/bin/headroom\" SYMBOLIC)
  execute_process(COMMAND \"$<TARGET_FILE:headroom>\" completion COMMAND_ERROR_IS_FATAL ANY
    OUTPUT_FILE \"\${prefix}/share/bash-completion/completions/headroom\")
  execute_process(COMMAND \"$<TARGET_FILE:headroom>\" manual COMMAND_ERROR_IS_FATAL ANY
    OUTPUT_FILE \"\${prefix}/share/man/man1/headroom.1\")")
install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  file(MAKE_DIRECTORY \"\${prefix}/lib/headroom\")
  file(CREATE_LINK \"${LIBTORCH_ROOT}\" \"\${prefix}/lib/headroom/torch\" SYMBOLIC)"
  COMPONENT libtorch)
