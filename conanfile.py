# conanfile.py - recorder for Conan 2, from this source tree: conan create .
# SPDX-License-Identifier: MIT
import os
import re

from conan import ConanFile
from conan.tools.files import copy, load


class Recorder(ConanFile):
    name = "recorder"
    description = "Lock-free flight recorder for C and C++"
    license = "MIT"
    package_type = "header-library"
    exports_sources = "recorder*.h", "recorder/*.h", "LICENSE"
    no_copy_source = True

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "recorder.h"))
        self.version = ".".join(re.findall(
            r"^#define RECORDER_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header,
            re.MULTILINE))

    def package(self):
        include = os.path.join(self.package_folder, "include")
        copy(self, "recorder*.h", self.source_folder, include)
        copy(self, "recorder/*.h", self.source_folder, include)
        copy(self, "LICENSE", self.source_folder,
             os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_file_name", "recorder")
        self.cpp_info.set_property("cmake_target_name", "recorder::recorder")
        self.cpp_info.set_property("pkg_config_name", "recorder")
