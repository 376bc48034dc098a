#!/usr/bin/env python3
# jtag.py ADDRESS FILE PORT-FILE - the debug port of a board whose memory is FILE.
# SPDX-License-Identifier: MIT
#
# OpenOCD's driver remote_bitbang sends the edges of TCK; a JTAG-DP of Arm with
# one MEM-AP answers, and reads and writes FILE, the memory from ADDRESS on, that
# qemu maps for a machine. It serves one connection, and ends with it.
import mmap
import os
import socket
import sys

RESET, IDLE, DR, CAPTURE_DR, SHIFT_DR, EXIT1_DR, PAUSE_DR, EXIT2_DR, UPDATE_DR, \
    IR, CAPTURE_IR, SHIFT_IR, EXIT1_IR, PAUSE_IR, EXIT2_IR, UPDATE_IR = range(16)
NEXT = ((IDLE, RESET), (IDLE, DR), (CAPTURE_DR, IR), (SHIFT_DR, EXIT1_DR),
        (SHIFT_DR, EXIT1_DR), (PAUSE_DR, UPDATE_DR), (PAUSE_DR, EXIT2_DR),
        (SHIFT_DR, UPDATE_DR), (IDLE, DR), (CAPTURE_IR, RESET),
        (SHIFT_IR, EXIT1_IR), (SHIFT_IR, EXIT1_IR), (PAUSE_IR, UPDATE_IR),
        (PAUSE_IR, EXIT2_IR), (SHIFT_IR, UPDATE_IR), (IDLE, DR))
DPACC, APACC, IDCODE = 10, 11, 14


class Port:
    def __init__(self, start, memory):
        self.start, self.memory = start, memory
        self.select = self.control = self.address = self.result = 0
        self.status = 2  # of the MEM-AP: words, at one address

    def transfer(self, value=None):
        """Reads or writes a part of a word, which has its place in a word."""
        size = 1 << (self.status & 3)
        at, shift = self.address - self.start, 8 * (self.address & 4 - size)
        known = 0 <= at <= len(self.memory) - size
        if value is not None and known:
            self.memory[at:at + size] = (
                value >> shift & (1 << 8 * size) - 1).to_bytes(size, "little")
        elif known:
            value = int.from_bytes(self.memory[at:at + size], "little") << shift
        if self.status & 0x10:
            self.address += size
        return value or 0

    def access(self, is_ap, is_read, register, value):
        if is_ap:
            register |= self.select & 0xf0
            if register == 0x00 and not is_read:
                self.status = value & 0x12 | value & 1
            elif register == 0x04 and not is_read:
                self.address = value
            elif register == 0x0c:
                value = self.transfer(None if is_read else value)
            if is_read:
                self.result = {0x00: self.status, 0x04: self.address, 0x0c: value,
                               0xf8: 0xffffffff, 0xfc: 0x24770011}.get(register, 0)
            if self.select >> 24:
                self.result = 0  # there is one access port
        elif is_read:
            if register == 4:  # both power domains are up when wanted
                self.result = self.control | self.control << 1
        elif register == 4:
            self.control = value & 0x50000000
        elif register == 8:
            self.select = value


def serve(connection, port):
    state, instruction, clock, bits, size = RESET, IDCODE, 0, 0, 32
    while True:
        asked = connection.recv(65536)
        said = bytearray()
        for c in asked:
            if c == ord("R"):
                said.append(ord("0") + (bits & 1))
            elif ord("0") <= c <= ord("7"):
                rises, clock = c & 4 and not clock, c & 4
                if not rises:
                    continue
                if state == CAPTURE_IR:
                    bits, size = 1, 4
                elif state == CAPTURE_DR:
                    bits, size = ((0x4ba00477, 32) if instruction == IDCODE
                                  else (port.result << 3 | 2, 35)
                                  if instruction in (DPACC, APACC) else (0, 1))
                elif state in (SHIFT_IR, SHIFT_DR):
                    bits = bits >> 1 | (c & 1) << size - 1
                state = NEXT[state][c >> 1 & 1]
                if state == UPDATE_IR:
                    instruction = bits
                elif state == UPDATE_DR and instruction in (DPACC, APACC):
                    port.access(instruction == APACC, bits & 1, bits << 1 & 12,
                                bits >> 3)
                elif state == RESET:
                    instruction = IDCODE
        if not asked or b"Q" in asked:
            return
        connection.sendall(said)


def main():
    start, path, port_file = sys.argv[1:]
    with open(path, "r+b") as file:
        memory = mmap.mmap(file.fileno(), 0)
    server = socket.create_server(("127.0.0.1", 0))
    with open(port_file + ".new", "w") as file:
        file.write(str(server.getsockname()[1]))
    os.rename(port_file + ".new", port_file)
    connection, _ = server.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    serve(connection, Port(int(start, 0), memory))


main()
