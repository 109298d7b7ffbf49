# SPDX-License-Identifier: GPL-2.0-or-later
# A guest of one sector, for a PC's BIOS: it reads the first cdrom from beginning to end, again and again, and
# prints the number of the reading and a sum of all bytes to the first serial port.
	.code16
	.globl _start
_start:
	xor %ax, %ax
	mov %ax, %ds
	mov %ax, %ss
	mov $0x7c00, %sp
	# Fill 512 KiB: memory that is not zero takes a migration its time.
	mov $0x1000, %bx
segment:
	mov %bx, %es
	xor %di, %di
	mov $0x4000, %cx
1:	imul $1664525, %ebp, %ebp
	add $1013904223, %ebp
	mov %ebp, %eax
	stosl
	loop 1b
	add $0x1000, %bx
	cmp $0x9000, %bx
	jb segment
	xor %ebp, %ebp		# the number of the reading
reading:
	movl $16, lba		# the volume's descriptor has its size, in blocks
	call read
	mov 0x8000 + 80, %edi
	xor %ebx, %ebx		# the sum
	movl $0, lba
block:
	call read
	mov $0x8000, %si
	mov $512, %cx
1:	rol $5, %ebx
	lodsl
	add %eax, %ebx
	loop 1b
	incl lba
	cmp %edi, lba
	jb block
	mov %ebp, %eax
	call hexadecimal
	mov $' ', %al
	call print
	mov %ebx, %eax
	call hexadecimal
	mov $'\n', %al
	call print
	inc %ebp
	# QEMU's emulation may lose what a guest writes at the very end of a migration: it pauses most of the time,
	# for four ticks of the timer.
	mov $4, %cx
1:	sti
	hlt
	loop 1b
	jmp reading

# Reads a block to 0x8000. Drive 0xe0 is the first cdrom of SeaBIOS.
read:
	push %bx
	mov $packet, %si
	mov $0x42, %ah
	mov $0xe0, %dl
	int $0x13
	pop %bx
	jnc 1f
	mov $'!', %al
	call print
1:	ret

hexadecimal:
	mov $8, %cx
1:	rol $4, %eax
	push %ax
	and $15, %al
	cmp $10, %al
	sbb $0x69, %al
	das
	call print
	pop %ax
	loop 1b
	ret

print:
	push %ax
	mov $0x3fd, %dx
1:	in %dx, %al
	test $0x20, %al
	jz 1b
	pop %ax
	mov $0x3f8, %dx
	out %al, %dx
	ret

	.balign 4
packet:
	.word 16, 1, 0x8000, 0
lba:
	.long 0, 0
	.org 510
	.word 0xaa55
