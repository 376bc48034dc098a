# vcpkg.cmake - cmake -P: runs our port by stand-ins for what vcpkg gives ports.
# SPDX-License-Identifier: MIT
# PORT_DIR is the port, OUT where it works; what it makes is in OUT/packages. The
# stand-ins do what vcpkg's documentation says of them, for one release build.
set(CURRENT_PACKAGES_DIR "${OUT}/packages")
set(PORT recorder)
function(must)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE status)
    if(status)
        message(FATAL_ERROR "failed: ${ARGV}")
    endif()
endfunction()
function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
    must("${CMAKE_COMMAND}" -S "${arg_SOURCE_PATH}" -B "${OUT}/build"
        "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" ${arg_OPTIONS})
endfunction()
function(vcpkg_cmake_install)
    must("${CMAKE_COMMAND}" --build "${OUT}/build" --target install)
endfunction()
# Moves the config files to share/PORT, as vcpkg wants them.
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
    file(GLOB configs "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/*")
    file(COPY ${configs} DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/cmake")
endfunction()
function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
    configure_file("${arg_FILE_LIST}"
        "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright" COPYONLY)
endfunction()
include("${PORT_DIR}/portfile.cmake")
