/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_ALGORITHMS_H
#define PROTEUS_ALGORITHMS_H

#include "proteus-program-builder.h"
#include "proteus-program.h"

#include "ns3/proteus-paths.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * The algorithms, each in a file of its own: proteus-collective-<name>.cc. All take a
 * request that MakeProgram() has checked.
 */

namespace ns3
{
namespace proteus
{

/**
 * @ingroup proteus
 * Ring all-reduce, all-gather and reduce-scatter: 2(n-1), n-1 and n-1 steps, of bytes / n each
 * (Patarasuk and Yuan, JPDC 69(2), 2009; NCCL's ring kernels).
 *
 * A channel carries its share of the segment of every rank. It moves the share in loops of at most
 * half of the slots per segment, so that no rank waits for room while it still has to receive.
 * Within a loop, a chunk is passed on as soon as it is there.
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 */
CollectiveProgram MakeRingProgram(const Cluster& cluster,
                                  const Paths& paths,
                                  const CollectiveRequest& request);

/**
 * @ingroup proteus
 * Broadcast along the ring from the root, or reduction along it to the root, pipelined by chunk, as
 * NCCL's ring broadcast and reduce.
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 */
CollectiveProgram MakeChainProgram(const Cluster& cluster,
                                   const Paths& paths,
                                   const CollectiveRequest& request);

/**
 * @ingroup proteus
 * Tree all-reduce, broadcast and reduce, pipelined by chunk. Inside a server the tree is a chain;
 * across servers it has two children. An all-reduce has two trees, each for one half of its
 * channels; servers that pass on in the first tree are leaves of the second (Sanders, Speck and
 * Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel
 * Computing 35(12), 2009; NVIDIA/nccl v2.30.7, src/graph/trees.cc). As in NCCL's balanced trees,
 * the first GPU of a server's chain talks to the parent and to the second child, the next GPU to
 * the first child. The chain and the tree of a broadcast or reduction begin at the root.
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 */
CollectiveProgram MakeTreeProgram(const Cluster& cluster,
                                  const Paths& paths,
                                  const CollectiveRequest& request);

/**
 * @ingroup proteus
 * Gather, scatter and all-to-all: all pairs of ranks that have something to send do so directly and
 * at once, as NCCL's grouped sends and receives, over several channels if wanted.
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 */
CollectiveProgram MakeDirectProgram(const Cluster& cluster,
                                    const Paths& paths,
                                    const CollectiveRequest& request);

/**
 * @ingroup proteus
 * Gather, scatter and all-to-all that leave a server by the NIC on the rail of the receiver. What
 * goes to another rail passes, over NVLink, the GPU of the server that has that NIC (NCCL's PXN:
 * "Doubling all2all Performance with NVIDIA Collective Communication Library 2.12", NVIDIA
 * technical blog, 2022; of all grouped messages, NVIDIA/nccl v2.12.7, src/graph/topo.cc and
 * src/transport/ net.cc, NCCL_P2P_PXN_LEVEL). No thread block works for what passes.
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 */
CollectiveProgram MakePxnProgram(const Cluster& cluster,
                                 const Paths& paths,
                                 const CollectiveRequest& request);

/**
 * @ingroup proteus
 * All-reduce, all-gather, reduce-scatter, broadcast and reduce without relays: every segment has an
 * owner, who exchanges it with all ranks at once.
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 */
CollectiveProgram MakeDirectReductionProgram(const Cluster& cluster,
                                             const Paths& paths,
                                             const CollectiveRequest& request);

/**
 * @ingroup proteus
 * Recursive halving (reduce-scatter), recursive doubling (all-gather), or one after the other
 * (all-reduce), in log2(n) steps each (Thakur, Rabenseifner and Gropp, "Optimization of Collective
 * Communication Operations in MPICH", IJHPCA 19(1), 2005). If n is no power of two, let k be the
 * largest one below n: the ranks from k on first add their data to those of a partner, and in the
 * end get the result from it.
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 */
CollectiveProgram MakeHalvingDoublingProgram(const Cluster& cluster,
                                             const Paths& paths,
                                             const CollectiveRequest& request);

/**
 * @ingroup proteus
 * All-reduce, all-gather and reduce-scatter in two levels: rings inside the servers, and rings
 * across servers among the ranks with the same place. Servers must have equally many ranks.
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 * @throw std::invalid_argument if servers have different numbers of ranks
 */
CollectiveProgram MakeHierarchicalProgram(const Cluster& cluster,
                                          const Paths& paths,
                                          const CollectiveRequest& request);

/**
 * @ingroup proteus
 * PAT all-gather and reduce-scatter: each segment has a binomial tree, the same for all but turned
 * to its owner, with log2(n) steps. An all-gather does the farthest step first, so that long ways
 * carry little (S. Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at
 * scale", 2025).
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 */
CollectiveProgram MakePatProgram(const Cluster& cluster,
                                 const Paths& paths,
                                 const CollectiveRequest& request);

/**
 * @ingroup proteus
 * All-reduce through parameter servers, which are CollectiveRequest::parameterServers ranks from
 * the root on. Every rank pushes to each server its share of the buffer, and pulls the sum (Li et
 * al., "Scaling Distributed Machine Learning with the Parameter Server", OSDI 2014).
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 * @throw std::invalid_argument if there are more servers than ranks, or none
 */
CollectiveProgram MakeParameterServerProgram(const Cluster& cluster,
                                             const Paths& paths,
                                             const CollectiveRequest& request);

/**
 * @ingroup proteus
 * NVLS: all-reduce, all-gather and reduce-scatter by the NVSwitches of one NVLink domain. Every
 * rank is the head of a segment: it gets the sum that the switches make of the segment, and
 * multicasts it (NVIDIA/nccl v2.30.7, src/device/all_reduce.h, runNvls).
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 * @throw std::invalid_argument if no NVSwitches that copy and combine join the ranks
 */
CollectiveProgram MakeNvlsProgram(const Cluster& cluster,
                                  const Paths& paths,
                                  const CollectiveRequest& request);

/**
 * @ingroup proteus
 * NVLSTree all-reduce: as NVLS inside the servers; the heads of one place sum up across servers
 * along the double binary tree before they multicast. Servers must have equally many ranks.
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 * @throw std::invalid_argument if servers have different numbers of ranks, or one, or no such
 * NVSwitches
 */
CollectiveProgram MakeNvlsTreeProgram(const Cluster& cluster,
                                      const Paths& paths,
                                      const CollectiveRequest& request);

/**
 * @ingroup proteus
 * All-reduce by the switches of the network (Graham et al., "Scalable Hierarchical Aggregation
 * Protocol (SHArP)", COMHPC 2016; NCCL's CollNet direct). The ranks of a server exchange segments
 * directly; the owners of a segment, one in every server, let the network sum it up. There must be
 * two servers or more, with equally many ranks.
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 * @throw std::invalid_argument if servers have different numbers of ranks, or there is one, or no
 * switches of the network that copy and combine
 */
CollectiveProgram MakeSharpProgram(const Cluster& cluster,
                                   const Paths& paths,
                                   const CollectiveRequest& request);

/**
 * @ingroup proteus
 * One message from rank 0 to rank 1, in chunks.
 *
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted, two ranks or more
 * @return the program
 */
CollectiveProgram MakeSendReceiveProgram(const Cluster& cluster,
                                         const Paths& paths,
                                         const CollectiveRequest& request);

/**
 * @ingroup proteus
 * Appends a step for every chunk of an extent.
 * @param block to append to
 * @param kind of the steps
 * @param extent to cut into chunks; empty ones give no step
 * @param chunkBytes most bytes of a step
 * @param least fewest steps to make, as long as each but the last has leastBytes
 * @param leastBytes see above
 * @param together steps in a row that a NIC gets at once, see Step::endsChunk
 */
void AppendSteps(ThreadBlock& block,
                 StepKind kind,
                 const Extent& extent,
                 uint64_t chunkBytes,
                 uint64_t least = 1,
                 uint64_t leastBytes = 1,
                 uint64_t together = 1);

/**
 * @ingroup proteus
 * @param step number of a step of an extent @param steps that the extent has
 * @param together steps in a row that a NIC gets at once
 * @return Step::endsChunk of it
 */
constexpr bool
EndsChunk(uint64_t step, uint64_t steps, uint64_t together)
{
    return (step + 1) % together == 0 || step + 1 == steps;
}

/**
 * @ingroup proteus
 * @param cluster where the ranks are
 * @param vertices of the ranks
 * @return ranks by server, servers in the order in which they first appear
 */
std::vector<std::vector<uint32_t>> GroupByServer(const Cluster& cluster,
                                                 const std::vector<VertexId>& vertices);

/// @ingroup proteus
/// By channel and server: ranks of the server, from the one on by which a ring comes in.
using ServerChains = std::vector<std::vector<std::vector<uint32_t>>>;

/// @ingroup proteus
/// What rings and trees are made of. The arguments are those of MakeRingOrders(). @return the ways
/// of SearchRings() through all servers, none of which is walked backwards
ServerChains MakeServerChains(const Cluster& cluster,
                              const Paths& paths,
                              const std::vector<VertexId>& vertices,
                              uint32_t channels = 0,
                              const TransportRules& rules = TransportRules());

/// @ingroup proteus
/// By sender and receiver: the rank between them.
using GroupRelays = std::map<std::pair<uint32_t, uint32_t>, uint32_t>;

/**
 * @ingroup proteus
 * Finds who passes chunks on. Two GPUs of a server may have no NVLink between them, while both have
 * some to a third GPU of the group. Then chunks go by way of the memory of the third (NCCL's paths
 * "NVB"). Of several such GPUs it is the one with most NVLinks to both.
 * @param cluster where the ranks are
 * @param vertices of the ranks
 * @param rules of transports
 * @return by sender and receiver, the rank between them; those that need none are not there
 */
GroupRelays FindGroupRelays(const Cluster& cluster,
                            const std::vector<VertexId>& vertices,
                            const TransportRules& rules = TransportRules());

/**
 * @ingroup proteus
 * Finds who passes chunks on along a ring, see FindGroupRelays(). Where that GPU has a connection
 * with one of the two on the ring already, chunks go without NVLink.
 * @param relays of the group
 * @param order ranks in the order of the ring
 * @return by position: the rank between it and the next, or NO_RANK
 */
std::vector<uint32_t> FindRingRelays(const GroupRelays& relays, const std::vector<uint32_t>& order);

/**
 * @ingroup proteus
 * Sends what goes from one rank to another on a channel by way of a third rank, without the work of
 * a thread block there.
 * @param program with the two blocks, which have each other for peers
 * @param from sender
 * @param to receiver
 * @param relay who passes on
 * @param channel of the connection
 * @param relayChannel of the two that take its place; the relay must have no other connections with
 * the two ranks on it
 */
void InsertRelay(CollectiveProgram& program,
                 uint32_t from,
                 uint32_t to,
                 uint32_t relay,
                 uint32_t channel,
                 uint32_t relayChannel);

/**
 * @ingroup proteus
 * Sends messages between GPUs that have no NVLink to each other by way of a third, as
 * FindGroupRelays() says (NVIDIA/nccl, src/transport/p2p.cc, P2P_INTERMEDIATE).
 * @param program of messages
 * @param cluster where the ranks are
 * @param request for it; nothing is done without CollectiveRequest::relaysMessages
 */
void InsertMessageRelays(CollectiveProgram& program,
                         const Cluster& cluster,
                         const CollectiveRequest& request);

/// @ingroup proteus
/// @param servers ranks by server @return ranks of the server that has fewest
std::size_t CountLeastRanks(const std::vector<std::vector<uint32_t>>& servers);

/**
 * @ingroup proteus
 * @param cluster where the ranks are
 * @param request whose
 * @param algorithm for the message
 * @return ranks by server
 * @throw std::invalid_argument if servers have different numbers of them
 */
std::vector<std::vector<uint32_t>> GroupEvenlyByServer(const Cluster& cluster,
                                                       const CollectiveRequest& request,
                                                       const std::string& algorithm);

/// @ingroup proteus
/// A node of a tree of positions 0 to n - 1.
struct TreeNode
{
    uint32_t parent{NO_RANK};               //!< position, NO_RANK at the root
    uint32_t children[2]{NO_RANK, NO_RANK}; //!< positions
    bool isSecondChild{false};              //!< of its parent
};

/**
 * @ingroup proteus
 * The double binary tree (NVIDIA/nccl v2.30.7, src/graph/trees.cc).
 * @param n positions
 * @param second whether the second tree is wanted
 * @return by position
 */
std::vector<TreeNode> MakeBinaryTree(uint32_t n, bool second);

/// @ingroup proteus
/// A tree of ranks.
struct RankTree
{
    std::vector<uint32_t> parent;                //!< by rank, NO_RANK at the root and outside
    std::vector<std::vector<uint32_t>> children; //!< by rank
    std::vector<uint32_t> order;                 //!< ranks, each behind its parent
};

/**
 * @ingroup proteus
 * Joins chains of ranks, one for each server, by a binary tree of the servers.
 * @param chains ranks of each server
 * @param ranks how many there are in all, in the chains or not
 * @param second which of the two trees
 * @return the tree
 */
RankTree JoinChains(const std::vector<std::vector<uint32_t>>& chains, uint32_t ranks, bool second);

/**
 * @ingroup proteus
 * The trees of MakeTreeProgram(): in each server a chain in the order of MakeRingOrders(), joined
 * by a binary tree across servers. The second half of the channels of an all-reduce has the second
 * tree.
 * @param cluster where the ranks are
 * @param paths of the cluster
 * @param request what is wanted
 * @return by channel
 */
std::vector<RankTree> MakeRankTrees(const Cluster& cluster,
                                    const Paths& paths,
                                    const CollectiveRequest& request);

/**
 * @ingroup proteus
 * Sums one chunk up to the root of a tree.
 * @param builder to append to
 * @param tree of ranks
 * @param channel of the connections
 * @param chunk of all buffers
 */
void AppendUp(ProgramBuilder& builder, const RankTree& tree, uint32_t channel, const Extent& chunk);

/**
 * @ingroup proteus
 * Brings one chunk down from the root of a tree.
 * @param builder to append to
 * @param tree of ranks
 * @param channel of the connections
 * @param chunk of all buffers
 */
void AppendDown(ProgramBuilder& builder,
                const RankTree& tree,
                uint32_t channel,
                const Extent& chunk);

/**
 * @ingroup proteus
 * Looks whether switches that copy and combine units join some endpoints, with nothing else on the
 * way.
 * @param cluster where they are
 * @param endpoints GPUs, or NICs
 * @param kind of the switches
 * @return whether they do
 */
bool AreJoinedByReducingSwitches(const Cluster& cluster,
                                 const std::vector<VertexId>& endpoints,
                                 VertexKind kind);

/// @ingroup proteus
/// Where grouped messages are read and written: those of an all-to-all, a gather or a scatter.
class MessageLayout
{
  public:
    /// @param request with the collective; must outlive this object
    explicit MessageLayout(const CollectiveRequest& request);

    /// @param from sender @param to receiver @return where the sender has it; empty if they have
    /// nothing to exchange
    Extent Sent(uint32_t from, uint32_t to) const;
    /// @param from sender @param to receiver @return where the receiver gets it, behind
    /// outputOffset
    Extent Received(uint32_t from, uint32_t to) const;
    /// @return most bytes that any rank receives in an all-to-all
    uint64_t GetMostReceived() const;

  private:
    /// @param from sender @param to receiver @return what they exchange by way of the root, in the
    /// buffers of both
    Extent Rooted(uint32_t from, uint32_t to) const;

    const CollectiveRequest& m_request;
    uint32_t m_n;
    std::vector<uint64_t> m_sent;     //!< by pair: first byte; empty for equal shares
    std::vector<uint64_t> m_received; //!< by pair: first byte; empty for equal shares
};

/**
 * @ingroup proteus
 * Appends blocks that copy what ranks have for themselves of an all-to-all, and the root of a
 * gather or a scatter: a message like those to others, of which nothing goes out (NVIDIA/nccl
 * v2.7.3 to v2.30.7, sendrecv.h). It has the channels of a message inside a server, and shares the
 * thread blocks of MessageBlocks.
 * @param program of messages
 * @param cluster where the ranks are
 * @param request for it
 */
void AppendOwnParts(CollectiveProgram& program,
                    const Cluster& cluster,
                    const CollectiveRequest& request);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_ALGORITHMS_H
