# recorder-config.cmake - find_package(recorder): the target recorder::recorder.
# SPDX-License-Identifier: MIT
# Installed in PREFIX/share/cmake/recorder or, by vcpkg, in PREFIX/share/recorder.
foreach(_recorder_up ../../.. ../..)
    get_filename_component(_recorder_include
        "${CMAKE_CURRENT_LIST_DIR}/${_recorder_up}/include" ABSOLUTE)
    if(EXISTS "${_recorder_include}/recorder.h")
        break()
    endif()
endforeach()
if(NOT EXISTS "${_recorder_include}/recorder.h")
    set(recorder_FOUND FALSE)
    set(recorder_NOT_FOUND_MESSAGE "no ${_recorder_include}/recorder.h")
elseif(NOT TARGET recorder::recorder)
    add_library(recorder::recorder INTERFACE IMPORTED)
    set_target_properties(recorder::recorder PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${_recorder_include}")
endif()
unset(_recorder_up)
unset(_recorder_include)
