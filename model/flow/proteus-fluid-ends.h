/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_FLUID_ENDS_H
#define PROTEUS_FLUID_ENDS_H

#include "proteus-flow-profile.h"
#include "proteus-max-min.h"

#include <array>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace proteus
{

struct FluidStream;

/// @ingroup proteus
/// What wants to pass a NIC in a step.
struct FluidDemand
{
    double wanted{0};  //!< wire bytes
    double allowed{0}; //!< what its link allows of them
};

/**
 * @ingroup proteus
 * What streams need inside servers, at their ends: links and CPUs between memory and NICs. NICs
 * that want more of them than they have take turns. What a NIC has from that is shared by what
 * passes it in proportion.
 */
class FluidEnds
{
  public:
    /// @param resources of the flow network; must outlive this object
    explicit FluidEnds(const std::vector<FlowResource>& resources);

    /// A use of resources at the end of a flow: which, and what they carry for a byte of payload.
    using Uses = std::vector<std::pair<uint32_t, double>>;

    /// Where a stream meets others.
    enum Side
    {
        SOURCE, //!< before its first NIC
        SINK,   //!< behind its last one
    };

    /// @param side where @param stream that comes @param nic port that it leaves or enters the
    /// server by
    /// @param rate of that, wire bytes per second @param wire bytes on it for one of payload
    /// @param uses of the stream
    void Add(Side side,
             const FluidStream& stream,
             uint32_t nic,
             double rate,
             double wire,
             const Uses& uses);

    /// Streams that have FluidStream::isGone leave. @param uses of one of them
    void Remove(const Uses& uses);

    /// @return whether servers have to take more than they can
    bool IsWanted();

    /// A stream that would come; see Add().
    struct Newcomer
    {
        Side side;
        const FluidStream* stream;
        uint32_t nic;
        double rate;
        double wire;
        const Uses* uses;
    };

    /// @param newcomers that would come @return whether servers would have to take more than they
    /// can
    bool IsWanted(const std::vector<Newcomer>& newcomers) const;

    /// @param side where @return whether something may be wanted for more than it has
    bool IsScarce(Side side);

    /**
     * Finds out what NICs may let pass in a step: first those that send, then those that receive.
     * @param side which of them
     * @param seconds of the step
     * @param getDemand by NIC
     * @param getBytes by stream: payload that wants to pass
     * @param getCreditS by stream: seconds before the step since when it has been there
     */
    void Share(Side side,
               double seconds,
               const std::function<FluidDemand(uint32_t nic)>& getDemand,
               const std::function<double(const FluidStream& stream)>& getBytes,
               const std::function<double(const FluidStream& stream)>& getCreditS);

    /// @param nic a port @return wire bytes that it may let pass in the step that was shared;
    /// infinite if nothing inside its server holds it back
    double GetRoom(uint32_t nic) const;

  private:
    /// Of a stream.
    struct Use
    {
        const FluidStream* stream;
        uint32_t nic;   //!< that it passes
        double nicRate; //!< wire bytes per second of that
        double wire;    //!< bytes on that for one of payload
        double amount;  //!< of the resource, for a byte of payload
    };

    /// A resource.
    struct End
    {
        double capacity{0};
        double idleS{0};                     //!< at the end of the last step, seconds
        double took{0};                      //!< by what was sent in this step
        double comes{0};                     //!< per second: by what was to be received in the last
        std::array<uint32_t, 2> nNics{0, 0}; //!< by side
        std::array<std::vector<Use>, 2> uses; //!< by side; by NIC
    };

    /// Uses of a resource by what passes a NIC.
    struct Group
    {
        uint32_t nic;
        uint32_t end;   //!< in m_scarce
        uint32_t first; //!< in End::uses
        uint32_t last;  //!< behind the last one
    };

    /// @param end a resource @param isEver whether as much as can ever be, or as congestion control
    /// allows now @return whether more is wanted of it than it has
    static bool IsOver(const End& end, bool isEver);
    /// Finds what may be wanted for more than it has.
    void FindScarce();
    /// @param end a resource @param side that shares it @param most that it carries in a step
    /// @param seconds of that @return what that side may have of it
    static double FindRoom(const End& end, Side side, double most, double seconds);

    const std::vector<FlowResource>& m_resources;
    std::unordered_map<uint32_t, End> m_ends;     //!< by resource
    bool m_isKnown{true};                         //!< whether those below are as they should be
    std::vector<End*> m_scarce;                   //!< may be wanted for more than they have
    std::array<std::vector<Group>, 2> m_groups;   //!< of these, by side; by NIC
    std::unordered_map<uint32_t, double> m_rooms; //!< see GetRoom()
    MaxMinSolver m_solver;                        //!< flows are NICs
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_FLUID_ENDS_H
