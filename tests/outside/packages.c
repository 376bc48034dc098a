/* Each build system and package manager finds the headers, by its own recipe. */
/* SPDX-License-Identifier: MIT */
#include "harness/build.h"

#include <string.h>

#define PACKAGES TEST_ROOT "/tests/packages"
#define MAKE "env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C " TEST_ROOT " "
#define MESON "/usr/bin/meson" /* Debian's: others want another python */

TestSuite(packages, .init = build_begin, .fini = build_end, .timeout = 300);

static char version[32]; /* what recorder.h says it is */

static void said(const char *text)
{
    cr_expect(strstr(build_text, text), "no \"%s\" in:\n%s", text, build_text);
}

/* A user's project as ./user, and the version. */
static void project_copy(const char *system)
{
    build_must("cp -r " PACKAGES "/%s user && cp " BUILD_PROGRAMS
               "/installed.c user/hello.c && cp " BUILD_PROGRAMS
               "/installed_part.cc user/part.cc",
               system);
    build_must("echo \"#include \\\"recorder.h\\\"\nVERSION RECORDER_VERSION\" "
               "| gcc " BUILD_INCLUDE "-E - | sed -n \"s/^VERSION//p\" | "
               "tr -d \"\\\" \\n\"");
    cr_assert(snprintf(version, sizeof version, "%s", build_text) > 4);
}

/* Does the program in this folder record, in C and C++? */
static void program_records(const char *folder)
{
    char text[100];
    build_must("%s/hello", folder);
    said("hello.c:9 T1] net: 42 bytes from example.org\n");
    snprintf(text, sizeof text, "part.cc:7 T1] part: version %s\n", version);
    said(text);
}

static void cmake_builds(const char *options)
{
    build_must("rm -rf made && cmake -S user -B made %s && "
               "cmake --build made >made.log || { cat made.log; exit 1; }",
               options);
}

/* Goal: find_package() finds what make install wrote, and what CMake installs,
 * by version, also after the folder was moved. */
Test(packages, cmake_find_package)
{
    char text[200];
    build_needs("cmake");
    project_copy("cmake");
    build_must(MAKE
               "install PREFIX=$PWD/first >/dev/null && mv first moved && "
               "cmake -S " TEST_ROOT " -B headers "
               "-DCMAKE_INSTALL_PREFIX=$PWD/second && cmake --install headers");
    for (int i = 0; i < 2; i++) {
        build_must("rm -rf made && cmake -S user -B made -DWAY=find_package "
                   "-DWANTED=2.0 -DCMAKE_PREFIX_PATH=$PWD/%s",
                   i ? "moved" : "second");
        snprintf(text, sizeof text, "recorder %s in ", version);
        said(text);
    }
    build_must("cmake --build made");
    program_records("made");
    build_must("diff -r -x recorder_reader.h moved/include second/include | "
               "grep -v \"^Only in moved/include: recorder-\" || :");
    cr_expect_str_empty(build_text);
    for (int i = 0; i < 3; i++) {
        static const char *const wrong[] = {"3.0", "1.9", "2.99"};
        cr_expect_neq(build_run("rm -rf made; cmake -S user -B made "
                                "-DWAY=find_package -DWANTED=%s "
                                "-DCMAKE_PREFIX_PATH=$PWD/second",
                                wrong[i]),
                      0);
        said("considered but not accepted");
    }
}

/* Goal: a project that contains the sources, or fetches them, installs nothing
 * of ours. */
Test(packages, cmake_contains, .init = build_long)
{
    build_needs("cmake");
    project_copy("cmake");
    cmake_builds("-DWAY=add_subdirectory -DFROM=" TEST_ROOT);
    program_records("made");
    build_must("cmake --install made --prefix $PWD/p && find p -type f");
    cr_expect_null(strstr(build_text, "p/include"), "%s", build_text);
    build_must("tar -C " TEST_ROOT " --exclude=./build --exclude=.git "
               "-cf recorder.tar.gz -z .");
    cmake_builds("-DWAY=FetchContent -DFROM=$PWD/recorder.tar.gz");
    program_records("made");
}

/* Goal: a Meson subproject, and an installed dependency, are found by version. */
Test(packages, meson, .init = build_long)
{
    build_needs(MESON);
    project_copy("meson");
    build_must("mkdir user/subprojects && ln -s " TEST_ROOT
               " user/subprojects/recorder && " MESON
               " setup made user && ninja -C made");
    said("Dependency recorder found: YES");
    program_records("made");
    build_must(MESON " install -C made --destdir $PWD/d >/dev/null && "
                     "find d -type f");
    cr_expect_null(strstr(build_text, "/include"), "%s", build_text);

    build_must(MESON
               " setup --prefix $PWD/p headers " TEST_ROOT " && " MESON
               " install -C headers >/dev/null && "
               "rm user/subprojects/recorder && "
               "PKG_CONFIG_PATH=$PWD/p/share/pkgconfig " MESON
               " setup --wrap-mode nofallback again user && ninja -C again");
    said("Run-time dependency recorder found: YES ");
    said(version);
    program_records("again");
    build_must("for part in $(cd " TEST_ROOT
               " && ls recorder*.h recorder/*.h); "
               "do cmp " TEST_ROOT "/$part p/include/$part || exit; done");
}

/* Goal: the vcpkg port makes a tree in which find_package() works. Method: vcpkg
 * is not in Debian; tests/packages/vcpkg.cmake stands in for its functions. */
Test(packages, vcpkg, .init = build_long)
{
    build_needs("cmake");
    project_copy("cmake");
    build_must("cmake -DPORT_DIR=" TEST_ROOT "/packages/vcpkg/recorder "
               "-DOUT=$PWD/v -P " PACKAGES "/vcpkg.cmake");
    build_must("test -s v/packages/share/recorder/copyright");
    cmake_builds("-DWAY=find_package -DCMAKE_PREFIX_PATH=$PWD/v/packages");
    program_records("made");
    build_must("python3 -c \"import json; port = json.load(open(\\\"" TEST_ROOT
               "/packages/vcpkg/recorder/vcpkg.json\\\")); "
               "print(port[\\\"name\\\"], port[\\\"version-semver\\\"])\"");
    cr_expect(strncmp(build_text, "recorder ", 9) == 0 &&
                  strncmp(build_text + 9, version, strlen(version)) == 0,
              "vcpkg.json says %srecorder.h %s", build_text, version);
}

/* Goal: the Conan recipe packs headers that compile. Method: Conan is not in
 * Debian; tests/packages/conan.py stands in for its module. */
Test(packages, conan)
{
    project_copy("cmake");
    build_must("python3 " PACKAGES "/conan.py out");
    cr_expect(strncmp(build_text, "recorder/", 9) == 0 &&
                  strncmp(build_text + 9, version, strlen(version)) == 0,
              "%s", build_text);
    said("libdirs []");
    said("recorder::recorder");
    build_must("test -s out/package/licenses/LICENSE && mkdir made && "
               "g++ -Iout/package/include -c -o part.o user/part.cc && "
               "gcc -Iout/package/include -o made/hello user/hello.c part.o "
               "-lstdc++");
    program_records("made");
}
