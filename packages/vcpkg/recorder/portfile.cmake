# portfile.cmake - recorder for vcpkg, from this source tree:
# vcpkg install recorder --overlay-ports=packages/vcpkg
# SPDX-License-Identifier: MIT
set(VCPKG_BUILD_TYPE release) # headers only
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/recorder)
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
