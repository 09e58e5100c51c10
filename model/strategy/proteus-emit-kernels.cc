/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-emit-kernels.h"

#include "proteus-emit-units.h"
#include "proteus-strategy-error.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace ns3
{
namespace proteus
{

KernelEmitter::KernelEmitter(EmitContext& context,
                             const EmitTensors& tensors,
                             RecentKernels& recent)
    : m_context(context),
      m_tensors(tensors),
      m_recent(recent),
      m_hasBlocks(std::any_of(
          context.placement.operators.begin(),
          context.placement.operators.end(),
          [](const PlacedOperator& placed) { return !FindBlock(placed.op.name).empty(); }))
{
}

/// Bytes that a kernel moves at a position of its mesh.
uint64_t
KernelEmitter::CountTraffic(const PlacedOperator& placed,
                            const OperatorPart& part,
                            uint32_t position,
                            const std::vector<uint64_t>& extents) const
{
    double bytes = 0;
    auto add = [&](const Access& access, double traffic, uint64_t elementBytes) {
        const ModelTensor& tensor = m_context.placement.tensors[access.tensor].tensor;
        const Layout layout = GetAccessLayout(placed, access);
        bytes +=
            traffic * static_cast<double>(layout.CountLocal(tensor.shape, position) * elementBytes);
    };
    auto element = [&](const Access& access) {
        return m_context.GetElementBytes(m_context.placement.tensors[access.tensor].tensor.element);
    };
    if (part.reads.empty())
    {
        for (const std::vector<Access>* accesses : {&placed.op.reads, &placed.op.writes})
        {
            for (const Access& access : *accesses)
            {
                add(access, access.traffic, element(access));
            }
        }
    }
    for (const DataReference& reference : part.reads)
    {
        const Access& access = FindAccess(placed.op, reference);
        const bool isTable = reference.kind == DataReference::Kind::READ && access.traffic == 0;
        add(access, isTable ? 0 : 1, element(access));
    }
    for (const GradientWrite& write : part.writes)
    {
        const Access& access = placed.op.reads[write.read];
        const bool isParameter =
            m_context.placement.tensors[access.tensor].tensor.role == TensorRole::PARAMETER;
        // A gradient is added to what there is of it: read and written.
        const bool isSum = isParameter
                               ? m_context.isInPlace && !m_context.IsScattered(placed, write)
                               : m_tensors.gradients.count(access.tensor) > 0;
        add(access,
            write.traffic * (isSum ? 2 : 1),
            isParameter ? m_context.GetGradientBytes() : element(access));
    }
    for (const Work& work : part.bytes)
    {
        double points = work.perPoint;
        for (const IterationAxis axis : work.extents)
        {
            points *= static_cast<double>(extents[axis]);
        }
        bytes += points;
    }
    return static_cast<uint64_t>(std::llround(bytes));
}

/// @return the extents of an operator's dimensions at a position of its mesh
std::vector<uint64_t>
KernelEmitter::FindExtents(const PlacedOperator& placed, uint32_t position)
{
    Layout space;
    space.mesh = placed.mesh;
    space.split = placed.axes;
    std::vector<uint64_t> extents(placed.op.dimensions.size());
    for (std::size_t i = 0; i < extents.size(); ++i)
    {
        extents[i] =
            GetPart(placed.op.dimensions[i].extent, space.GetParts(i), space.GetIndex(i, position))
                .Size();
    }
    return extents;
}

/// What is in 16 bits where the strategy says fp8: attention (Transformer Engine), the router of
/// experts, and what stands around a model's numbered blocks, as the projection to the vocabulary.
/// Megatron-Core's fp8 context is around the layers (get_fp8_context() in transformer_block.py),
/// and its head and its router are no modules of Transformer Engine (gpt_model.py, moe/router.py);
/// torchtitan's recipes leave out "output" and "router.gate" (float8.md, filter_fqns).
bool
KernelEmitter::StaysInHalfPrecision(const ModelOperator& op) const
{
    return op.kind == "attention" || op.kind == "router" ||
           (m_hasBlocks && FindBlock(op.name).empty());
}

/// @return what an operator reads of weights that are not trained, null if there are none
const Access*
KernelEmitter::FindFrozenWeight(const ModelOperator& op) const
{
    const auto found = std::find_if(op.reads.begin(), op.reads.end(), [this](const Access& read) {
        const ModelTensor& tensor = m_context.placement.tensors[read.tensor].tensor;
        return tensor.role == TensorRole::PARAMETER && !tensor.needsGradient;
    });
    return found == op.reads.end() ? nullptr : &*found;
}

/// Whether the weights of an operator are kept in four bits, if they are frozen. What stands around
/// a model's numbered blocks stays in 16 bits, as the projection to the vocabulary does
/// (get_keys_to_not_convert() of Hugging Face transformers).
bool
KernelEmitter::IsInFourBits(const ModelOperator& op) const
{
    return m_context.tree.precision.hasFrozenInFourBits &&
           (op.kind == "linear" || op.kind == "expert-linear") &&
           (!m_hasBlocks || !FindBlock(op.name).empty());
}

/// @return bytes of an element of a frozen parameter, which has no master copy
double
KernelEmitter::GetFrozenBytes(const PlacedTensor& placed) const
{
    const bool isInFourBits =
        placed.tensor.shape.size() > 1 && !HasExpertBiases(placed.tensor.name) &&
        !placed.readers.empty() &&
        std::all_of(placed.readers.begin(), placed.readers.end(), [this](OperatorId reader) {
            return IsInFourBits(m_context.placement.operators[reader].op);
        });
    return isInFourBits ? FOUR_BIT_BYTES
                        : static_cast<double>(m_context.GetElementBytes(ElementKind::COMPUTE));
}

bool
KernelEmitter::SharesExperts(const DeviceMesh& mesh)
{
    for (MeshAxis axis = 0; axis < mesh.GetNAxes(); ++axis)
    {
        if (IsExpertAxis(mesh.GetNames()[axis]) && mesh.GetSizes()[axis] > 1)
        {
            return true;
        }
    }
    return false;
}

/// @return the kernel of a part at a position of its mesh @param ring KernelDescription::ring
/// @param pieces KernelDescription::pieces
KernelEmitter::Kernel
KernelEmitter::MakeKernel(const PlacedOperator& placed,
                          const OperatorPart& part,
                          PhaseId phase,
                          uint32_t position,
                          const std::vector<uint64_t>& extents,
                          uint32_t ring,
                          uint32_t pieces) const
{
    Task task;
    for (const Work& work : part.flops)
    {
        double points = work.perPoint;
        for (const IterationAxis axis : work.extents)
        {
            points *= static_cast<double>(extents[axis]);
        }
        task.flops += points;
    }
    task.kind = TaskKind::COMPUTE;
    task.bytes = CountTraffic(placed, part, position, extents);
    task.dataType = part.isMatrixProduct ? m_context.tree.precision.compute : DataType::FP32;
    if (IsQuantized(task.dataType) && StaysInHalfPrecision(placed.op))
    {
        task.dataType = DataType::BF16;
    }
    task.stream = m_context.streams.compute;
    task.phase = phase;
    const PhaseId pass = m_context.GetPass(phase);
    const bool isForward = part.name.empty();
    KernelDescription kernel;
    kernel.name = placed.op.name;
    kernel.kind = placed.op.kind;
    kernel.part = part.name;
    kernel.extents = extents;
    kernel.flops = task.flops;
    kernel.bytes = task.bytes;
    kernel.dataType = task.dataType;
    kernel.pass = uint64_t{placed.stage} << 32 | pass;
    kernel.hasBias = HasBias(placed.op);
    kernel.hasWeightedBias = placed.op.hasWeightedBias;
    kernel.head = placed.op.head;
    kernel.hasMask = placed.op.hasMask;
    kernel.isCausal = placed.op.isCausal;
    kernel.hasDropout = placed.op.hasDropout;
    kernel.documents = placed.op.documents;
    kernel.window = placed.op.window;
    kernel.microBatches = m_context.tree.schedule.microBatches;
    kernel.ring = ring;
    kernel.pieces = pieces;
    kernel.isExchanged = SharesExperts(*placed.mesh);
    kernel.isFlex =
        kernel.isExchanged && m_context.tree.schedule.expertDispatch != ExpertDispatch::ALL_TO_ALL;
    kernel.isRecomputation = isForward && pass == m_context.GetBackward(placed.stage);
    kernel.isKept =
        !FindBlock(placed.op.name).empty() &&
        (placed.recompute.empty() || placed.keeps || MakesResultsOnly(m_context.placement, placed));
    kernel.isDeferred = !isForward && pass != m_context.GetBackward(placed.stage);
    const Access* const frozen = FindFrozenWeight(placed.op);
    const bool isStored = frozen || !m_context.tree.precision.hasMaster; // in 16 bits
    kernel.movesWeights = !isStored || m_context.tree.optimizer.zero >= 3;
    kernel.isInFourBits = frozen && IsInFourBits(placed.op);
    if (frozen && part.isMatrixProduct && kernel.part == "backward")
    {
        kernel.part = "input-gradient"; // there is no other
    }
    for (const GradientWrite& write : part.writes)
    {
        const ModelTensor& tensor =
            m_context.placement.tensors[placed.op.reads[write.read].tensor].tensor;
        kernel.gradients += tensor.role == TensorRole::PARAMETER && tensor.needsGradient ? 1 : 0;
    }
    uint64_t heldBytes = m_context.TimeKernel(kernel, task);
    if (kernel.isInFourBits)
    {
        // The weights in 16 bits are there while they are multiplied.
        const Layout layout = GetAccessLayout(placed, *frozen);
        const ModelTensor& weight = m_context.placement.tensors[frozen->tensor].tensor;
        heldBytes +=
            m_context.GetElementBytes(weight.element) * layout.CountLocal(weight.shape, position);
    }
    return {task, heldBytes};
}

/// @return one of several equal pieces of a kernel: of a product one of as many products of fewer
/// rows, whose blocks may fill the GPU worse; else a share of the whole
KernelEmitter::Kernel
KernelEmitter::MakePiece(const PlacedOperator& placed,
                         const OperatorPart& part,
                         PhaseId phase,
                         uint32_t position,
                         const std::vector<uint64_t>& extents,
                         uint32_t pieces) const
{
    const uint32_t rows = placed.op.FindDimension("sequence");
    const bool isProduct = placed.op.kind == "linear" && rows != NO_ID;
    std::vector<uint64_t> shape = extents;
    uint64_t work = pieces;
    if (isProduct && extents[rows] % pieces == 0)
    {
        shape[rows] /= pieces;
        work = 1;
    }
    const uint32_t ring = placed.op.kind == "attention" ? pieces : 1;
    if (ring > 1 && placed.op.window > 0)
    {
        throw StrategyError("strategy \"" + m_context.tree.name +
                            "\": keys and values in a ring (cpOverlap) do not go with attention "
                            "to a window (\"" +
                            placed.op.name + "\"); say cpOverlap=false");
    }
    const auto products = static_cast<uint32_t>(pieces / work); // that one call issues
    Kernel kernel = MakeKernel(placed, part, phase, position, shape, ring, products);
    kernel.heldBytes /= pieces;
    Task& task = kernel.task;
    task.bytes /= pieces;
    task.flops /= static_cast<double>(work);
    task.threadBlocks = static_cast<uint32_t>(task.threadBlocks / work);
    task.durationPs /= task.durationPs < 0 ? 1 : static_cast<int64_t>(work);
    return kernel;
}

namespace
{

/// @return several equal pieces of a kernel, one after the other @param piece one of them
Task
Repeat(const Task& piece, uint32_t times)
{
    Task task = piece;
    task.flops *= times;
    task.bytes *= times;
    task.threadBlocks *= times;
    task.durationPs *= piece.durationPs < 0 ? 1 : int64_t{times};
    return task;
}

/// @param reads of a kernel @return of how many pieces the one that arrives in most has
uint32_t
CountPieces(const std::vector<Value>& reads)
{
    uint32_t pieces = 1;
    for (const Value& value : reads)
    {
        pieces = std::max(pieces, value.early.empty() ? 1 : value.pieces);
    }
    return pieces;
}

/// @param pieces of a kernel @param isWritten whether the first one's result goes ahead
/// @param isRead whether what the last one reads arrives last
/// @return how many of them run in one go, in order
std::vector<uint32_t>
ListRuns(uint32_t pieces, bool isWritten, bool isRead)
{
    if (pieces == 1)
    {
        return {1};
    }
    if (isWritten && isRead && pieces > 2)
    {
        return {1, pieces - 2, 1};
    }
    return isWritten ? std::vector<uint32_t>{1, pieces - 1} : std::vector<uint32_t>{pieces - 1, 1};
}

/// @return what a kernel waits for at a position @param isEarly whether before the first pieces
std::vector<TaskId>
CollectReady(const std::vector<Value>& reads, uint32_t position, bool isEarly)
{
    std::vector<TaskId> all;
    for (const Value& value : reads)
    {
        const bool takesEarly = isEarly && !value.early.empty();
        const std::vector<TaskId> ready =
            GetReady(takesEarly ? Value{value.layout, value.early, {}, 1} : value, position);
        all.insert(all.end(), ready.begin(), ready.end());
    }
    return all;
}

} // namespace

Row
KernelEmitter::EmitKernel(OperatorId id,
                          const OperatorPart& part,
                          PhaseId phase,
                          const std::string& name,
                          const std::vector<Value>& reads,
                          KernelPieces* written)
{
    const PlacedOperator& placed = m_context.placement.operators[id];
    const std::vector<DeviceId>& devices = placed.mesh->GetDevices();
    Row row(devices.size());
    const uint32_t arriving = CountPieces(reads);
    const uint32_t pieces = std::max(arriving, written ? written->pieces : 1);
    const std::vector<uint32_t> runs = ListRuns(pieces, written != nullptr, arriving > 1);
    // Devices with equal shares do equal work.
    std::map<std::vector<uint64_t>, Kernel> known;
    for (uint32_t position = 0; position < devices.size(); ++position)
    {
        if (!m_context.IsEmitted(devices[position]))
        {
            row[position] = NO_ID;
            continue;
        }
        const std::vector<uint64_t> extents = FindExtents(placed, position);
        const auto [found, isNew] = known.emplace(extents, Kernel());
        if (isNew)
        {
            found->second = pieces == 1 ? MakeKernel(placed, part, phase, position, extents, 1, 1)
                                        : MakePiece(placed, part, phase, position, extents, pieces);
        }
        Task& task = found->second.task;
        task.place = devices[position];
        for (std::size_t run = 0; run < runs.size(); ++run)
        {
            const bool isLast = run + 1 == runs.size();
            std::vector<TaskId> dependencies = CollectReady(reads, position, !isLast);
            if (run > 0)
            {
                dependencies.push_back(row[position]);
            }
            if (isLast && !m_trigger.empty() && m_triggerMesh == placed.mesh &&
                m_trigger[position] != NO_ID)
            {
                dependencies.push_back(m_trigger[position]);
            }
            row[position] =
                m_context.builder.AddTask(Repeat(task, runs[run]),
                                          isLast ? name : name + (run == 0 ? ".first" : ".middle"),
                                          dependencies);
            if (written && run == 0)
            {
                written->first.resize(devices.size(), NO_ID);
                written->first[position] = row[position];
            }
        }
        if (found->second.heldBytes > 0)
        {
            // Nobody reads it: it is there while the kernel runs.
            m_context.builder.AddMemory(phase,
                                        devices[position],
                                        name + ".held",
                                        found->second.heldBytes,
                                        {row[position]});
        }
    }
    const std::vector<PhaseId>& weight = m_context.phases.weight;
    if (std::count(weight.begin(), weight.end(), phase) == 0)
    {
        m_recent.Add(placed.mesh, row); // not what runs at some later time
    }
    return row;
}

namespace
{

/// Bytes that a device keeps from the beginning to the end.
struct PersistentBytes
{
    uint64_t parameters{0};
    uint64_t gradients{0};
    uint64_t state{0};
    uint64_t data{0};
};

/// Adds a tensor to a kind of bytes of all its devices. @param bytes of an element
void
AddBytes(std::vector<PersistentBytes>& all,
         uint64_t PersistentBytes::*kind,
         const ModelTensor& tensor,
         const Layout& layout,
         double bytes)
{
    const std::vector<DeviceId>& devices = layout.mesh->GetDevices();
    for (uint32_t position = 0; position < devices.size(); ++position)
    {
        const uint64_t elements = layout.CountLocal(tensor.shape, position);
        all[devices[position]].*kind +=
            static_cast<uint64_t>(std::llround(bytes * static_cast<double>(elements)));
    }
}

} // namespace

void
KernelEmitter::AddPersistentMemory(const std::set<TensorId>& losses)
{
    using B = PersistentBytes;
    std::vector<B> all(m_context.placement.nDevices);
    // Where the master copy is the only one, it counts as parameters.
    const OptimizerSpec& optimizer = m_context.tree.optimizer;
    const uint64_t share = GetParameterBytes(optimizer, m_context.tree.precision);
    const uint64_t master = share > 0 ? 0 : GetStoredBytes(DataType::FP32);
    for (TensorId id = 0; id < m_context.placement.tensors.size(); ++id)
    {
        const PlacedTensor& placed = m_context.placement.tensors[id];
        const ModelTensor& tensor = placed.tensor;
        const uint64_t bytes = m_context.GetElementBytes(tensor.element);
        if (tensor.role == TensorRole::PARAMETER && !tensor.needsGradient)
        {
            AddBytes(all, &B::parameters, tensor, placed.home, GetFrozenBytes(placed));
        }
        else if (tensor.role == TensorRole::PARAMETER)
        {
            AddBytes(all, &B::parameters, tensor, placed.home, static_cast<double>(share + master));
            if (m_context.isInPlace)
            {
                AddBytes(all,
                         &B::gradients,
                         tensor,
                         placed.gradient,
                         static_cast<double>(m_context.GetGradientBytes()) *
                             m_context.GetGradientShare(id));
            }
            if (!optimizer.isOffloaded)
            {
                AddBytes(all,
                         &B::state,
                         tensor,
                         placed.optimizer,
                         m_context.GetStateBytes(tensor) - static_cast<double>(master));
            }
        }
        else if (tensor.role == TensorRole::INPUT || losses.count(id) > 0)
        {
            AddBytes(all, &B::data, tensor, placed.home, static_cast<double>(bytes));
        }
    }
    for (DeviceId device = 0; device < m_context.placement.nDevices; ++device)
    {
        const B& bytes = all[device];
        for (const auto& [name, size] :
             {std::pair<const char*, uint64_t>{"parameters", bytes.parameters},
              {"gradients", bytes.gradients},
              {"optimizer-state", bytes.state},
              {"data", bytes.data}})
        {
            if (size > 0 && m_context.IsEmitted(device))
            {
                m_context.builder
                    .AddMemory(m_context.phases.optimizer, device, name, size, {}, true);
            }
        }
    }
}

bool
HasBias(const ModelOperator& op)
{
    constexpr std::size_t WITHOUT = 2; // input and weight
    const bool isProduct =
        op.kind == "linear" || op.kind == "expert-linear" || op.kind == "convolution";
    return isProduct && op.reads.size() > WITHOUT;
}

} // namespace proteus
} // namespace ns3
