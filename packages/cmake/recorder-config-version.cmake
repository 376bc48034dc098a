# recorder-config-version.cmake - the version is what the installed recorder.h says.
# SPDX-License-Identifier: MIT
# Compatible is the same major version, from the wanted minor version up.
foreach(_recorder_up ../../.. ../..)
    set(_recorder_header
        "${CMAKE_CURRENT_LIST_DIR}/${_recorder_up}/include/recorder.h")
    if(EXISTS "${_recorder_header}")
        break()
    endif()
endforeach()
set(PACKAGE_VERSION "")
if(EXISTS "${_recorder_header}")
    file(STRINGS "${_recorder_header}" _recorder_lines
        REGEX "define RECORDER_VERSION_(MAJOR|MINOR|PATCH) ")
    string(REGEX REPLACE "[^0-9;]" "" PACKAGE_VERSION "${_recorder_lines}")
    string(REPLACE ";" "." PACKAGE_VERSION "${PACKAGE_VERSION}")
endif()
string(REGEX MATCH "^[0-9]+" _recorder_major "${PACKAGE_VERSION}")
if(NOT PACKAGE_VERSION OR PACKAGE_VERSION VERSION_LESS "${PACKAGE_FIND_VERSION}"
        OR NOT "${PACKAGE_FIND_VERSION_MAJOR}" MATCHES "^(${_recorder_major})?$")
    set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
    if(PACKAGE_VERSION VERSION_EQUAL "${PACKAGE_FIND_VERSION}")
        set(PACKAGE_VERSION_EXACT TRUE)
    endif()
endif()
unset(_recorder_up)
unset(_recorder_header)
unset(_recorder_lines)
unset(_recorder_major)
