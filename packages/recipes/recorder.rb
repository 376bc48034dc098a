# typed: strict
# frozen_string_literal: true

# Homebrew's recipe: the headers and, on Linux, the command.
class Recorder < Formula
  desc "Lock-free flight recorder for C and C++"
  homepage "@URL@"
  url "@URL@"
  sha256 "@SHA256@"
  license "MIT"

  on_macos do
    depends_on "cmake" => :build
  end

  on_linux do
    depends_on "binutils"
    depends_on "capstone"
    depends_on "elfutils"
    depends_on "libseccomp"
    depends_on "sqlite"
    depends_on "zlib"
    depends_on "zstd"
  end

  def install
    if OS.mac?
      system "cmake", "-S", ".", "-B", "build", *std_cmake_args
      system "cmake", "--install", "build"
    else
      system "make", "RUN_MACHINES="
      system "make", "install", "PREFIX=#{prefix}", "GDBINIT=", "RUN_MACHINES="
    end
  end

  test do
    (testpath/"hello.c").write <<~C
      #include <recorder_dump.h>
      RECORDER(net, 16, "Network");
      int main(void) { record(net, "bytes=%d", 42); recorder_dump(); return 0; }
    C
    system ENV.cc, "hello.c", "-I#{include}", "-o", "hello"
    assert_match "net: bytes=42", shell_output("./hello 2>&1")
  end
end
