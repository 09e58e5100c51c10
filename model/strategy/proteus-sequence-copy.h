/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_SEQUENCE_COPY_H
#define PROTEUS_SEQUENCE_COPY_H

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * The copy that PyTorch's functional collectives make of what they gathered along another
 * dimension than the first, and of what they scatter along one: all_gather_tensor() and
 * reduce_scatter_tensor() of torch/distributed/_functional_collectives.py put chunks together
 * (torch.cat). DTensor's sequence parallelism has the sequence second. A framework with a rule of
 * this name makes it; it is no operator of a model.
 */
constexpr const char* SEQUENCE_COPY = "sequence-copy";

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_SEQUENCE_COPY_H
