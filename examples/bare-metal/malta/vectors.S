# vectors.S - where a MIPS32 starts, and its one way into C for interrupts.
# SPDX-License-Identifier: MIT
        .set noreorder
        .set noat

        .section .start, "ax"
        .globl port_start
port_start:
        mtc0 $0, $12                    # Status: no interrupts, vectors in RAM
        ehb
        la $sp, port_stack
        la $t0, port_vector
        li $t1, 0x80000180
        li $t2, 4
1:      lw $t3, 0($t0)
        sw $t3, 0($t1)
        cache 0x19, 0($t1)              # data: write back
        cache 0x10, 0($t1)              # instructions: forget
        addiu $t0, 4
        addiu $t2, -1
        bnez $t2, 1b
        addiu $t1, 4
        j port_begin
        nop

port_vector:                            # copied to 0x80000180
        lui $k0, %hi(port_exception)
        addiu $k0, %lo(port_exception)
        jr $k0
        nop

# All registers that C may change, and what an interrupt in it would change.
        .macro each op
        \op $1, 16($sp)
        \op $2, 20($sp)
        \op $3, 24($sp)
        \op $4, 28($sp)
        \op $5, 32($sp)
        \op $6, 36($sp)
        \op $7, 40($sp)
        \op $8, 44($sp)
        \op $9, 48($sp)
        \op $10, 52($sp)
        \op $11, 56($sp)
        \op $12, 60($sp)
        \op $13, 64($sp)
        \op $14, 68($sp)
        \op $15, 72($sp)
        \op $24, 76($sp)
        \op $25, 80($sp)
        \op $31, 84($sp)
        .endm

port_exception:
        addiu $sp, -104
        each sw
        mfhi $t0
        mflo $t1
        sw $t0, 88($sp)
        sw $t1, 92($sp)
        mfc0 $a0, $13                   # Cause
        mfc0 $a1, $14                   # EPC
        mfc0 $a2, $12                   # Status
        sw $a1, 96($sp)
        jal port_on_exception
        sw $a2, 100($sp)
        lw $t0, 100($sp)
        lw $t1, 96($sp)
        mtc0 $t0, $12                   # its EXL bit: no interrupts until eret
        ehb
        mtc0 $t1, $14
        lw $t0, 88($sp)
        lw $t1, 92($sp)
        mthi $t0
        mtlo $t1
        each lw
        addiu $sp, 104
        eret
