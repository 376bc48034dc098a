/* linker-defs.h - a stand-in for the names that recorder_port.h relies on. */
/* SPDX-License-Identifier: MIT */
extern char __rom_region_start[], __rom_region_end[];
extern char _image_ram_start[], _image_ram_end[];
