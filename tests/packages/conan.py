"""conan.py FOLDER - runs conanfile.py by stand-ins for what Conan gives it.

Conan is not in Debian. The stand-ins do what its documentation says of them:
export the sources that the recipe names, and nothing else, then package them.
Prints name/version, and what package_info() says of the package in FOLDER.
"""
# SPDX-License-Identifier: MIT
import fnmatch
import os
import shutil
import sys
import types

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
OUT = os.path.abspath(sys.argv[1])


class CppInfo:
    """What consumers are told; the values before the recipe are Conan's."""

    def __init__(self):
        self.includedirs, self.libdirs, self.bindirs = \
            ["include"], ["lib"], ["bin"]
        self.properties = {}

    def set_property(self, name, value):
        self.properties[name] = value


class ConanFile:
    pass


def load(_, path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def copy(_, pattern, src, dst):
    """Copies what matches, of all folders, with its path below src."""
    for folder, _, names in os.walk(src):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), src)
            if fnmatch.fnmatchcase(path, pattern):
                to = os.path.join(dst, path)
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.copy(os.path.join(folder, name), to)


for name, members in (("conan", {"ConanFile": ConanFile}),
                      ("conan.tools", {}),
                      ("conan.tools.files", {"copy": copy, "load": load})):
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module
scope = {}
exec(compile(load(None, os.path.join(ROOT, "conanfile.py")), "conanfile.py",
             "exec"), scope)
recipe = scope["Recorder"]()
recipe.recipe_folder = ROOT
recipe.set_version()
recipe.source_folder = os.path.join(OUT, "sources")
recipe.package_folder = os.path.join(OUT, "package")
for path in recipe.exports_sources:
    copy(None, path, ROOT, recipe.source_folder)
recipe.package()
recipe.cpp_info = CppInfo()
recipe.package_info()
print("%s/%s" % (recipe.name, recipe.version))
for key in ("includedirs", "libdirs", "bindirs", "properties"):
    print(key, getattr(recipe.cpp_info, key))
