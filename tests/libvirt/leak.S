# SPDX-License-Identifier: GPL-2.0-or-later
# A guest of one sector, for a PC's BIOS: it prints the second hard disk, byte by byte, to the first serial port.
	.code16
	.globl _start
_start:
	xor %ax, %ax
	mov %ax, %ds
	mov %ax, %ss
	mov $0x7c00, %sp
	cld
next:
	mov $packet, %si
	mov $0x42, %ah
	mov $0x81, %dl
	int $0x13
	jc end
	mov $0x8000, %si
	mov $512, %cx
1:	mov $0x3fd, %dx
	in %dx, %al
	test $0x20, %al
	jz 1b
	lodsb
	mov $0x3f8, %dx
	out %al, %dx
	loop 1b
	incl lba
	jmp next
end:
	hlt
	jmp end

	.balign 4
packet:
	.word 16, 1, 0x8000, 0
lba:
	.long 0, 0
	.org 510
	.word 0xaa55
