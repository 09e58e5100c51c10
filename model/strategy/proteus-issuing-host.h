/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ISSUING_HOST_H
#define PROTEUS_ISSUING_HOST_H

#include "proteus-compiler.h"
#include "proteus-stage-hosts.h"

#include "ns3/proteus-framework.h"
#include "ns3/proteus-kernel-cost.h"

#include <cstdint>
#include <string>

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param framework that runs it @param kernel an operator
/// @return kernels of a data-parallel job for each tensor, which the host issues from C++
uint32_t CountReplicaKernels(const Framework& framework, const KernelDescription& kernel);

/// @ingroup proteus
/// The host of one device, kernel after kernel.
class IssuingHost
{
  public:
    /// @param framework whose host it is; it must outlive this @param gpu name of the device's data
    /// sheet @param stages see MakeFrameworkTimer()
    IssuingHost(const Framework& framework, const std::string& gpu, StageHosts* stages);
    IssuingHost(const IssuingHost&) = delete; // it points to its own passes
    IssuingHost& operator=(const IssuingHost&) = delete;

    /**
     * Issues an operator behind those before it.
     * @param kernel the operator
     * @param work of its kernels, as the framework runs them
     * @param rule of the framework about it, null if there is none
     * @param time of its kernels
     * @return what it adds to its stream, picoseconds
     */
    int64_t GetPs(const KernelDescription& kernel,
                  const KernelWork& work,
                  const KernelRule* rule,
                  const KernelTime& time);

  private:
    /// Where the host is in a pass.
    struct Pass
    {
        HostLead lead;          //!< after the last operator
        HostLead before;        //!< before it
        std::string kernel;     //!< the last operator and part
        uint64_t number{0};     //!< KernelDescription::pass of it
        uint64_t leadNumber{0}; //!< of the pass that the lead belongs to
        int64_t leadPs{0};      //!< of stages' hosts: the lead itself
        bool isBlockNew{false}; //!< whether it began a block
    };

    /// The same as of GetPs(). @param nKernels that the host issues one by one
    /// @return what the operator takes it, without what its block takes, picoseconds
    int64_t CountOperatorPs(const KernelDescription& kernel,
                            const KernelWork& work,
                            const KernelRule* rule,
                            const KernelTime& time,
                            uint32_t nKernels) const;

    /// @param kernel the next one @return whether it begins a block. Blocks that repeat have a
    /// number in their name. The others belong to one unit, the root
    bool IsBlockNew(const KernelDescription& kernel);

    /// @param kernel an operator @return whether its host keeps its lead from pass to pass
    bool IsOfStage(const KernelDescription& kernel) const
    {
        return m_stages && kernel.tensors == 0 && !kernel.isDeferred;
    }

    const Framework& m_framework;
    double m_pace;         //!< how many times as long as the framework says it takes
    StageHosts* m_stages;  //!< what hosts keep from pass to pass, null for nothing
    Pass m_pass;           //!< at present
    Pass m_deferred;       //!< behind it, whose kernels are described in turn with its own
    Pass* m_last{&m_pass}; //!< of the last operator
    std::string m_block;   //!< the last numbered one of this pass
    bool m_hasRoot{false}; //!< whether the root unit has begun in this pass
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ISSUING_HOST_H
