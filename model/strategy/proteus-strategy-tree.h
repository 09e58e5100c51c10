/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_STRATEGY_TREE_H
#define PROTEUS_STRATEGY_TREE_H

#include "proteus-expert-dispatch.h"
#include "proteus-mesh.h"

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * How a model is spread over devices and time: the strategy tree.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A dimension that devices share.
struct SplitSpec
{
    std::string dimension;         //!< name or number; of the iteration space for an operator
    uint64_t parts{0};             //!< into how many, or 0 where axes are named
    std::vector<std::string> axes; //!< of the mesh, major first; empty where parts are given
};

/// @ingroup proteus
/// Which devices: a grid written out, or a slice of the strategy's own mesh.
struct MeshSpec
{
    std::vector<uint32_t> sizes;           //!< of a grid written out
    std::vector<DeviceId> devices;         //!< of a grid written out; empty: a slice
    std::vector<std::string> names;        //!< of the axes of a grid written out, or empty
    std::map<std::string, uint32_t> slice; //!< coordinates on axes of the strategy's mesh
};

/**
 * @ingroup proteus
 * How an item lies: the iteration space of an operator, or a tensor that it reads or writes. If
 * splits are given as numbers of parts, or as an empty list, they are all there are: the other mesh
 * axes replicate. If they are given as named axes, the other axes are left to inference.
 */
struct ItemSpec
{
    std::optional<MeshSpec> mesh;                 //!< where; else where the operator is
    std::optional<std::vector<SplitSpec>> splits; //!< how; else as inferred
    bool isComplete{false}; //!< operator: whether axes that split nothing replicate, whatever its
                            //!< inputs and the nodes above it say
    std::vector<std::string> partial; //!< "out": axes over which it is kept as partial sums
};

/**
 * @ingroup proteus
 * A node of the tree: what holds for the operators whose path goes through it.
 *
 * A node's name is matched against one part of the path ("layer3" of "layer3.qkv"): "*" stands for
 * any text and "{2..5}" for a number in the range. What a node says goes before what its parent
 * says; if several nodes match, what the later one says counts.
 */
struct StrategyNode
{
    std::string name; //!< pattern; of the root: ignored
    ItemSpec op;      //!< the operator's iteration space
    /// "weight", "weight_grad", "weight_state" (moments and update), "bias", ..., "out",
    /// "out_grad", "in:0"
    std::map<std::string, ItemSpec> items;
    std::optional<uint32_t> stage; //!< pipeline stage; none: that of its inputs, or 0
    std::optional<bool> recompute; //!< whether the subtree is one block to recompute
    /// Where it is: the block is that of all siblings with the same group; "": its own.
    std::string recomputeGroup;
    /// Whether results of the subtree are kept and read again when their block is computed again,
    /// as checkpoints with a policy do (PyTorch: create_selective_checkpoint_contexts(); JAX:
    /// jax.checkpoint(policy=...)). What is not kept is made of these and of the block's input.
    std::optional<bool> keep;
    std::vector<StrategyNode> children; //!< for parts of the path behind this one

    /// @param part a name @return the child that is called so, made where it is not there
    StrategyNode& GetChild(const std::string& part);
};

/// @ingroup proteus
/// Order of the micro-batches.
enum class ScheduleKind : uint8_t
{
    GPIPE,                    //!< all forward, then all backward
    ONE_FORWARD_ONE_BACKWARD, //!< 1F1B
    INTERLEAVED,              //!< 1F1B over several stages per device (Narayanan et al. 2021)
    ZERO_BUBBLE,              //!< ZB-H1: weight gradients fill the bubble (Qi et al. 2024)
    LIMITS,                   //!< what the in-flight limits and the interleaving allow (Proteus)
};

/// @ingroup proteus
/// @param kind a value @return its name: "gpipe", "1f1b", "interleaved", "zero-bubble", "limits"
const char* ToString(ScheduleKind kind);
/// @ingroup proteus
/// @param text a name @return the value @throw std::invalid_argument that lists the names
ScheduleKind ScheduleKindFromString(const std::string& text);

/// @ingroup proteus
/// The schedule of the pipeline.
struct ScheduleSpec
{
    uint32_t microBatches{1};                                  //!< per iteration
    ScheduleKind kind{ScheduleKind::ONE_FORWARD_ONE_BACKWARD}; //!< their order
    std::vector<uint32_t> maxInFlight;                         //!< LIMITS: by stage
    uint32_t interleave{1}; //!< LIMITS: forwards before a backward
    /// Whether devices that have the same activation (tensor parallelism) send a part each to the
    /// next stage, which gathers them there (Narayanan et al. 2021, section 4.1).
    bool isScatterGather{false};
    /// Whether collectives of sequence parallelism run piece by piece beside the products that use
    /// or make what they move (Transformer Engine's user buffers, --tp-comm-overlap).
    bool overlapsTensor{false};
    /// Whether keys and values of the other devices of a context-parallel group arrive while
    /// attention to those that are there is computed, as in a ring (Liu et al. 2023).
    bool overlapsContext{false};
    /// Whether the exchanges of experts' tokens of a micro-batch run beside the kernels of another
    /// one: a step of the steady state is a forward pass and the backward pass of an earlier
    /// micro-batch, layer by layer (Megatron-Core's --overlap-moe-expert-parallel-comm).
    bool overlapsExperts{false};
    /// overlapsExperts: whether gradients of the layers' weights are computed behind those of their
    /// inputs, while tokens go on (--delay-wgrad-compute).
    bool delaysWeights{false};
    /// What exchanges tokens between devices that share experts.
    ExpertDispatch expertDispatch{ExpertDispatch::ALL_TO_ALL};
    /// Of other dispatches than ALL_TO_ALL: how many devices, from a multiple of it on, are one
    /// server to them (DeepEP: NUM_MAX_NVL_PEERS; Hybrid-EP:
    /// NUM_OF_HYBRID_EP_RANKS_PER_NVLINK_DOMAIN).
    uint32_t expertDomain{8};
    /// Whether of a block that is computed again only that runs which its backward pass reads, and
    /// what it is made of (PyTorch's checkpoints that are not reentrant, which stop when it is
    /// there, set_checkpoint_early_stop(); compilers), or all up to its last operator.
    bool stopsRecomputation{false};
    /// Whether all forward passes of an interleaved pipeline come before the first backward pass if
    /// there are as many micro-batches as device groups. So it was in Megatron-Core up to 0.11.
    bool runsForwardFirst{true};
    /// Samples that the input pipeline has ready in a second, for all devices; 0: it never holds
    /// an iteration up.
    double dataSamplesPerSecond{0};
};

/// @ingroup proteus
/// How gradients of parameters are put together to be reduced.
enum class BucketPolicy : uint8_t
{
    WHOLE,    //!< one per group of devices
    DDP,      //!< PyTorch's: closed by exceeding a size, the first one by a small size
    MEGATRON, //!< closed by reaching 40e6 or 1e6 per replica elements; on the first stage only
    TENSOR,   //!< every gradient alone, as Horovod, MXNet and ByteScheduler have them
    UNIT,     //!< those of a unit (a numbered block, or what stands between two) when its backward
              //!< pass is over, as FSDP has them
};

/// @ingroup proteus
/// @param policy a value @return its name: "whole", "ddp", "megatron", "tensor", "unit"
const char* ToString(BucketPolicy policy);
/// @ingroup proteus
/// @param text a name @return the value @throw std::invalid_argument that lists the names
BucketPolicy BucketPolicyFromString(const std::string& text);

/// @ingroup proteus
/// The reduction of gradients.
struct GradientSpec
{
    BucketPolicy policy{BucketPolicy::DDP}; //!< how they are put together
    double bucketMegabytes{25};             //!< DDP: size that closes a bucket, MB = 1e6 bytes
    double firstBucketMegabytes{1};         //!< DDP: the same for the first
    bool isInPlace{false};                  //!< whether one buffer per parameter is kept for the
                                            //!< whole iteration, in which gradients add up
};

/// @ingroup proteus
/// What updates the parameters.
enum class OptimizerKind : uint8_t
{
    SGD,        //!< no state
    MOMENTUM,   //!< one moment
    ADAM,       //!< two moments
    LAMB,       //!< two moments, and norms of every parameter and its update (You et al. 2020)
    ADAM_8BIT,  //!< two moments of 8 bits with a scale for every block (Dettmers et al. 2022)
    ADAFACTOR,  //!< no moment; a number for each row and column of a matrix (Shazeer, Stern 2018)
    MUON,       //!< one moment of the matrices in a model's numbered blocks, whose updates are made
                //!< orthogonal (Jordan et al. 2024); Adam for all else
    LARS,       //!< one moment, and norms of every parameter and its gradient (You et al. 2017)
    ADAM_FUSED, //!< ADAM in one kernel, whatever the framework takes
    ADAM_FOREACH, //!< ADAM pass by pass over lists of parameters, PyTorch's default on a GPU
};

/// @ingroup proteus
/// @param kind a value @return its name: "sgd", "momentum", "adam", ...
const char* ToString(OptimizerKind kind);
/// @ingroup proteus
/// @param text a name @return the value @throw std::invalid_argument that lists the names
OptimizerKind OptimizerKindFromString(const std::string& text);
/// @ingroup proteus
/// @return names of all optimizers
std::vector<std::string> GetOptimizerKindNames();

/// @ingroup proteus
/// The optimizer, and what replicas share of its work (ZeRO).
struct OptimizerSpec
{
    OptimizerKind kind{OptimizerKind::ADAM}; //!< what it computes
    bool isFused{true};                      //!< one kernel per device, or one per parameter
    bool isImmediate{false};                 //!< not fused: whether a parameter is updated as soon
                                             //!< as its gradient is reduced, on a stream beside
                                             //!< the compute stream; else after all gradients are
    uint32_t zero{0};                        //!< 1: its state, 2: gradients too, 3: parameters too
    std::vector<std::string> zeroAxes;       //!< mesh axes that share them
    std::vector<std::string> expertZeroAxes; //!< those that share them for parameters of experts;
                                             //!< empty: zeroAxes
    bool scattersGradients{true};            //!< zero 1 and 2: whether gradients are scattered as
                                             //!< they are reduced, as Megatron-LM and FSDP do;
                                             //!< else every replica gets them whole, as in the
                                             //!< published Proteus (zero 1) and DeepSpeed
    bool gathersUnits{true};                 //!< zero 3: whether the parameters of a block are
                                             //!< gathered together, as FSDP's units are; else
                                             //!< every tensor by itself
    bool hasHalfShares{true};                //!< zero 3 in 16 bits: whether a device has its share
                                             //!< of the parameters in 16 bits besides the master
                                             //!< copy in fp32, as DeepSpeed does; else it casts
                                             //!< what is gathered, as FSDP does
    bool gathersInForward{false};            //!< zero 1 and 2: whether updated parameters are
                                             //!< gathered unit by unit while the next forward
                                             //!< pass begins, as Megatron-LM's
                                             //!< --overlap-param-gather does; else all at once
                                             //!< after the update

    /// @return whether updated parameters are gathered in a phase before the forward pass
    bool HasParameterPhase() const
    {
        return gathersInForward && (zero == 1 || zero == 2);
    }

    /// @return whether all of a gradient is reduced everywhere, before each replica keeps its share
    bool ReducesBeforeSharing() const
    {
        return zero == 2 && !scattersGradients;
    }

    bool isOffloaded{false};                 //!< whether its state and its work are on the host
    double hostLinkGigabytesPerSecond{12};   //!< offload: between a device and the host; NCCL's
                                             //!< figure for PCIe 3.0 x16
    double hostMemoryGigabytesPerSecond{50}; //!< offload: of the host, for each device; half a
                                             //!< socket of six DDR4-2133 channels
};

/// @ingroup proteus
/// Number formats.
struct PrecisionSpec
{
    DataType compute{DataType::FP32};  //!< of matrix products; see GetStoredBytes()
    DataType gradient{DataType::FP32}; //!< of gradients of parameters
    /// Where parameters are stored in 16 bits: whether the optimizer has a master copy of them and
    /// its moments in fp32; else it updates them as they are, and its moments are in 16 bits, too.
    bool hasMaster{true};
    /// Whether frozen weights of products in a model's numbered blocks are kept in four bits
    /// (NF4, Dettmers et al. 2023), and made 16 bits of before each product.
    bool hasFrozenInFourBits{false};
};

/// @ingroup proteus
/// Bytes of a weight in NF4 with double quantisation: four bits, a scale of 8 bits for 64 weights,
/// and one of 32 bits for 256 of these (Dettmers et al. 2023, section 3).
constexpr double FOUR_BIT_BYTES = 0.5 + 1.0 / 64 + 4.0 / (64 * 256);

/// @ingroup proteus
/// @param type of matrix products @return bytes of an element that is stored for them: 4 for fp32
/// and tf32, else 2
uint64_t GetStoredBytes(DataType type);

/// @ingroup proteus
/// @param optimizer that updates parameters @param precision of what it updates
/// @return bytes that a device keeps of each parameter of its share besides
/// GetOptimizerStateBytes(): 0 where the master copy in fp32 is the only one
uint64_t GetParameterBytes(const OptimizerSpec& optimizer, const PrecisionSpec& precision);

/// @ingroup proteus
/// @param kind of the optimizer @param precision of what it updates @return bytes that it keeps for
/// each parameter that is trained: its moments, and a master copy if there is one. Where that is up
/// to a parameter's shape it is that of large matrices, without scales and what a row has.
uint64_t GetOptimizerStateBytes(OptimizerKind kind, const PrecisionSpec& precision);

/**
 * @ingroup proteus
 * The same of one parameter.
 * - ADAM_8BIT: two bytes, and two scales of 4 for every 256 numbers; parameters of less than 4,096
 *   have moments of 32 bits (bitsandbytes, functional.py and optim/optimizer.py: blocksize 256,
 *   min_8bit_size 4096; so has torchao's AdamW8bit). Embeddings are like others; the Trainer of
 *   transformers keeps theirs in 32 bits.
 * - ADAFACTOR: 4 bytes for each row and column of a matrix, or of each number of what is none.
 * - MUON: one moment, two of what is no matrix of a block (IsMuonMatrix()).
 * @param kind of the optimizer @param precision of what it updates
 * @param shape of the parameter
 * @param isMatrix whether Muon makes its update orthogonal
 * @return bytes for each of its numbers
 */
double GetOptimizerStateBytes(OptimizerKind kind,
                              const PrecisionSpec& precision,
                              const std::vector<uint64_t>& shape,
                              bool isMatrix);

/**
 * @ingroup proteus
 * A strategy.
 */
struct StrategyTree
{
    std::string name;                   //!< for messages
    uint64_t batch{1};                  //!< samples of a micro-batch, all replicas together: what a
                                        //!< model is to be read with
    std::vector<std::string> axisNames; //!< of the strategy's mesh, major first
    std::vector<uint32_t> axisSizes;    //!< of the strategy's mesh, which has devices 0, 1, ...
    bool isUnevenAllowed{false};        //!< whether dimensions may be split into unequal parts
    bool hasRepresentative{false};      //!< whether device 0 stands for all: the others, which do
                                        //!< the same, take part in its communication only. All
                                        //!< communication has to be among all devices
    bool isSplitBackward{true};         //!< whether gradients of inputs and of weights are kernels
                                        //!< of their own
    StrategyNode root;                  //!< the tree
    ScheduleSpec schedule;              //!< order of micro-batches
    GradientSpec gradients;             //!< reduction
    OptimizerSpec optimizer;            //!< update
    PrecisionSpec precision;            //!< number formats
};

/**
 * @ingroup proteus
 * @param pattern of a node: text, "*" for any text, "{a..b}" for a number from a to b
 * @param text part of a path
 * @return whether it matches
 * @throw std::invalid_argument if a brace has no such range
 */
bool MatchesPattern(const std::string& pattern, const std::string& text);

/// @ingroup proteus
/// What a tree says of one operator.
struct NodeSpec
{
    ItemSpec op;                            //!< its own and, for the mesh, its ancestors'
    std::vector<SplitSpec> inherited;       //!< splits of its ancestors
    const StrategyNode* ancestor{nullptr};  //!< whose splits those are
    std::map<std::string, ItemSpec> items;  //!< its own
    bool hasOwnMesh{false};                 //!< whether a node below the root has its mesh
    std::optional<uint32_t> stage;          //!< pipeline stage; none: that of its inputs, or 0
    std::string recompute;                  //!< path of the block to recompute, or ""
    std::string recomputeGroup;             //!< StrategyNode::recomputeGroup
    bool keeps{false};                      //!< StrategyNode::keep
    std::string node;                       //!< names of the nodes, for messages
    std::vector<const StrategyNode*> nodes; //!< that matched, in the order in which they have a say
};

/// @ingroup proteus
/// @param tree a strategy @param path of an operator @return what it says of it
NodeSpec FindNodeSpec(const StrategyTree& tree, const std::string& path);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_STRATEGY_TREE_H
