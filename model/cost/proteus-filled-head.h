/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FILLED_HEAD_H
#define PROTEUS_FILLED_HEAD_H

#include "proteus-achieved-rates.h"

#include <cstdint>

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Kernels of FlashAttention are compiled for some sizes of heads, and others are filled up to the
 * next: 32, 64 and 128 in version 1 (run_fmha_fwd() of csrc/flash_attn/fmha_api.cpp, v1.0.9),
 * powers of two in Triton (flash_attn_triton.py), 32, 64, 96, 128, 160, 192, 224 and 256 in version
 * 2 (HEADDIM_SWITCH of csrc/flash_attn/src/static_switch.h), 64, 96, 128, 192 and 256 in version 3
 * (hopper/). What fills them up is computed, and is no part of GetAttentionShare(). cuDNN's sizes
 * are not known.
 * @param kernel which one
 * @param head size of a head
 * @return the size that is computed, at least that of the head, which it is where no size is known
 * or the head is larger than all
 */
uint64_t GetFilledHead(AttentionKernel kernel, uint64_t head);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FILLED_HEAD_H
