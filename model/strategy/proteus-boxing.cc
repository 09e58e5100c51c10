/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-boxing.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

namespace ns3
{
namespace proteus
{

namespace
{

using Axes = std::vector<MeshAxis>;

bool
Contains(const Axes& axes, MeshAxis axis)
{
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// @return how many axes both lists begin with
std::size_t
CountCommon(const Axes& a, const Axes& b)
{
    return std::mismatch(a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin()).first -
           a.begin();
}

/// Whether every dimension's parts nest, so that a device keeps, drops or gathers whole parts.
bool
Nest(const Layout& from, const Layout& to, const Shape& shape)
{
    for (std::size_t i = 0; i < shape.size(); ++i)
    {
        // Uneven parts nest only if they are the same.
        const uint64_t parts = std::max(from.GetParts(i), to.GetParts(i));
        if (from.split[i] != to.split[i] && shape[i] % parts != 0 && from.GetParts(i) != 1 &&
            to.GetParts(i) != 1)
        {
            return false;
        }
    }
    return true;
}

/// One dimension's axes move to the minor end of another one's: an all-to-all.
std::optional<BoxingStep>
PlanAllToAll(const Layout& from, const Layout& to, const Shape& shape, const BoxingOptions& options)
{
    uint32_t source = NO_ID;
    uint32_t target = NO_ID;
    for (uint32_t i = 0; i < shape.size(); ++i)
    {
        const std::size_t common = CountCommon(from.split[i], to.split[i]);
        const bool loses = common < from.split[i].size();
        const bool gains = common < to.split[i].size();
        if ((loses && gains) || (loses && source != NO_ID) || (gains && target != NO_ID))
        {
            return std::nullopt;
        }
        source = loses ? i : source;
        target = gains ? i : target;
    }
    if (source == NO_ID || target == NO_ID)
    {
        return std::nullopt;
    }
    BoxingStep step;
    step.collective = Collective::ALL_TO_ALL;
    step.axes.assign(from.split[source].begin() + to.split[source].size(),
                     from.split[source].end());
    uint64_t size = 1;
    for (const MeshAxis axis : step.axes)
    {
        size *= from.mesh->GetSizes()[axis];
    }
    if (!std::equal(step.axes.begin(),
                    step.axes.end(),
                    to.split[target].begin() + from.split[target].size(),
                    to.split[target].end()) ||
        shape[source] % from.GetParts(source) != 0 || shape[target] % to.GetParts(target) != 0 ||
        (size == 2 && !options.allToAllOfTwo))
    {
        return std::nullopt;
    }
    step.from = from;
    step.to = to;
    return step;
}

/// How layouts on one mesh differ whose parts nest.
struct NestedChange
{
    Axes scattered;             //!< partial sums that are split in the end
    Axes gathered;              //!< split at first, and not in the end
    std::vector<Axes> narrowed; //!< split after the slices that replicas allow, by dimension
};

/// @return the change; none if the layouts do not nest
std::optional<NestedChange>
FindNestedChange(const Layout& from, const Layout& to, const Shape& shape)
{
    if (!Nest(from, to, shape))
    {
        return std::nullopt;
    }
    NestedChange change;
    change.narrowed = from.split;
    for (std::size_t i = 0; i < shape.size(); ++i)
    {
        const Axes& a = from.split[i];
        const Axes& b = to.split[i];
        const std::size_t common = CountCommon(a, b);
        if (common < a.size() && common < b.size())
        {
            return std::nullopt;
        }
        for (std::size_t k = common; k < b.size(); ++k)
        {
            if (Contains(from.partial, b[k]))
            {
                change.scattered.push_back(b[k]);
            }
            else if (from.FindDimension(b[k]) != NO_ID)
            {
                return std::nullopt; // comes from another dimension
            }
        }
        if (common < b.size())
        {
            change.narrowed[i] = b;
        }
        change.gathered.insert(change.gathered.end(), a.begin() + common, a.end());
    }
    const bool isGatheredOnly =
        std::all_of(change.gathered.begin(), change.gathered.end(), [&](MeshAxis axis) {
            return to.FindDimension(axis) == NO_ID;
        });
    return isGatheredOnly ? std::optional(change) : std::nullopt;
}

/// @param axes some @param others to leave out @return the rest, in order
Axes
Without(const Axes& axes, const Axes& others)
{
    Axes rest;
    std::copy_if(axes.begin(), axes.end(), std::back_inserter(rest), [&](MeshAxis axis) {
        return !Contains(others, axis);
    });
    return rest;
}

/// The steps on one mesh; none if the layouts do not nest.
std::optional<std::vector<BoxingStep>>
PlanNested(const Layout& from, const Layout& to, const Shape& shape)
{
    const std::optional<NestedChange> change = FindNestedChange(from, to, shape);
    if (!change)
    {
        return std::nullopt;
    }
    std::vector<BoxingStep> steps;
    Layout now = from;
    now.partial = Without(from.partial, change->scattered);
    // Slices first: they make everything after them smaller.
    now.split = change->narrowed;
    if (!change->scattered.empty())
    {
        Layout before = now;
        for (Axes& split : before.split)
        {
            split = Without(split, change->scattered);
        }
        before.partial = from.partial;
        steps.push_back({Collective::REDUCE_SCATTER, change->scattered, before, now});
    }
    if (!now.partial.empty())
    {
        Layout done = now;
        done.partial.clear();
        steps.push_back({Collective::ALL_REDUCE, now.partial, now, done});
        now = done;
    }
    if (!change->gathered.empty())
    {
        steps.push_back({Collective::ALL_GATHER, change->gathered, now, to});
    }
    return steps;
}

/// An all-to-all with slices and reductions before it and gathers after it.
std::optional<std::vector<BoxingStep>>
PlanMixed(const Layout& from, const Layout& to, const Shape& shape, const BoxingOptions& options)
{
    // What the devices can do alone, or by a reduction, as far as the parts nest.
    Layout first = from;
    for (std::size_t i = 0; i < shape.size(); ++i)
    {
        const std::size_t common = CountCommon(from.split[i], to.split[i]);
        for (std::size_t k = common; common == from.split[i].size() && k < to.split[i].size(); ++k)
        {
            if (from.FindDimension(to.split[i][k]) != NO_ID)
            {
                break;
            }
            first.split[i].push_back(to.split[i][k]);
        }
    }
    first.partial.clear();
    // The axes that move, from the minor end of one dimension to that of another.
    Layout second = first;
    for (std::size_t i = 0; i < shape.size(); ++i)
    {
        const Axes& axes = first.split[i];
        std::size_t kept = axes.size();
        while (kept > 0 && to.FindDimension(axes[kept - 1]) != NO_ID &&
               to.FindDimension(axes[kept - 1]) != i)
        {
            --kept;
        }
        for (std::size_t k = kept; k < axes.size(); ++k)
        {
            Axes& left = second.split[i];
            left.erase(std::find(left.begin(), left.end(), axes[k]));
            second.split[to.FindDimension(axes[k])].push_back(axes[k]);
        }
    }
    const auto before = PlanNested(from, first, shape);
    const auto exchange = PlanAllToAll(first, second, shape, options);
    const auto after = PlanNested(second, to, shape);
    if (!before || !exchange || !after)
    {
        return std::nullopt;
    }
    std::vector<BoxingStep> steps = *before;
    steps.push_back(*exchange);
    steps.insert(steps.end(), after->begin(), after->end());
    return steps;
}

/// From or to a mesh of one device.
std::optional<BoxingStep>
PlanRooted(const Layout& from, const Layout& to)
{
    const std::size_t nFrom = from.mesh->GetDevices().size();
    const std::size_t nTo = to.mesh->GetDevices().size();
    const Layout& many = nFrom == 1 ? to : from;
    const DeviceId one = (nFrom == 1 ? from : to).mesh->GetDevices()[0];
    // The blocks lie on different devices, the one among them.
    if ((nFrom != 1 && nTo != 1) || nFrom == nTo || !many.GetReplicated().empty() ||
        many.mesh->FindPosition(one) == NO_ID)
    {
        return std::nullopt;
    }
    BoxingStep step;
    step.collective = nFrom == 1 ? Collective::SCATTER : Collective::GATHER;
    for (MeshAxis axis = 0; axis < many.mesh->GetNAxes(); ++axis)
    {
        step.axes.push_back(axis);
    }
    step.from = from;
    step.to = to;
    return step;
}

} // namespace

std::vector<BoxingStep>
PlanBoxing(const Layout& from, const Layout& to, const Shape& shape, const BoxingOptions& options)
{
    for (const MeshAxis axis : to.partial)
    {
        if (from.mesh != to.mesh || !Contains(from.partial, axis))
        {
            throw std::invalid_argument("layout " + to.ToString() +
                                        " has partial sums that no step can make of " +
                                        from.ToString());
        }
    }
    if (from == to)
    {
        return {};
    }
    if (from.mesh == to.mesh)
    {
        if (std::optional<std::vector<BoxingStep>> steps = PlanNested(from, to, shape))
        {
            return *steps;
        }
        if (std::optional<std::vector<BoxingStep>> steps = PlanMixed(from, to, shape, options))
        {
            return *steps;
        }
    }
    // What follows moves values: sums have to be there first.
    std::vector<BoxingStep> steps;
    Layout now = from;
    if (!from.partial.empty())
    {
        now.partial.clear();
        steps.push_back({Collective::ALL_REDUCE, from.partial, from, now});
    }
    std::optional<BoxingStep> step;
    if (from.mesh != to.mesh && options.isRooted)
    {
        step = PlanRooted(now, to);
    }
    steps.push_back(step ? *step : BoxingStep{Collective::SEND_RECV, {}, now, to});
    return steps;
}

std::vector<BoxingGroup>
GetBoxingGroups(const BoxingStep& step, const Shape& shape)
{
    const bool isScatter = step.collective == Collective::SCATTER;
    const Layout& wide = isScatter ? step.to : step.from;
    const DeviceMesh& mesh = *wide.mesh;
    std::vector<uint32_t> offsets{0};
    for (const MeshAxis axis : step.axes)
    {
        std::vector<uint32_t> next;
        for (const uint32_t offset : offsets)
        {
            for (uint32_t i = 0; i < mesh.GetSizes()[axis]; ++i)
            {
                next.push_back(offset + i * mesh.GetStride(axis));
            }
        }
        offsets = std::move(next);
    }
    std::vector<BoxingGroup> groups;
    for (uint32_t first = 0; first < mesh.GetDevices().size(); ++first)
    {
        const bool isFirst = std::all_of(step.axes.begin(), step.axes.end(), [&](MeshAxis axis) {
            return mesh.GetCoordinate(first, axis) == 0;
        });
        if (!isFirst)
        {
            continue;
        }
        BoxingGroup group;
        for (const uint32_t offset : offsets)
        {
            group.devices.push_back(mesh.GetDevices()[first + offset]);
        }
        switch (step.collective)
        {
        case Collective::ALL_GATHER:
            group.elements = step.to.CountLocal(shape, first);
            break;
        case Collective::SCATTER:
            group.elements = step.from.CountLocal(shape, 0);
            group.root = mesh.FindPosition(step.from.mesh->GetDevices()[0]);
            break;
        case Collective::GATHER:
            group.elements = step.to.CountLocal(shape, 0);
            group.root = mesh.FindPosition(step.to.mesh->GetDevices()[0]);
            break;
        default:
            group.elements = step.from.CountLocal(shape, first);
            break;
        }
        groups.push_back(std::move(group));
    }
    return groups;
}

namespace
{

/// @return number of blocks that a layout cuts a tensor into
uint64_t
CountBlocks(const Layout& layout, std::size_t rank)
{
    uint64_t blocks = 1;
    for (std::size_t i = 0; i < rank; ++i)
    {
        blocks *= layout.GetParts(i);
    }
    return blocks;
}

/// @return row-major number of the block that a position of the mesh has
uint64_t
GetBlock(const Layout& layout, std::size_t rank, uint32_t position)
{
    uint64_t block = 0;
    for (std::size_t i = 0; i < rank; ++i)
    {
        block = block * layout.GetParts(i) + layout.GetIndex(i, position);
    }
    return block;
}

/// A block, and how many elements of it are wanted.
using BlockShare = std::pair<uint64_t, uint64_t>;

/// @return the blocks of a layout that meet a box, found dimension by dimension
std::vector<BlockShare>
FindBlocks(const Layout& layout, const Shape& shape, const Box& box)
{
    std::vector<BlockShare> blocks{{0, 1}};
    for (std::size_t i = 0; i < shape.size(); ++i)
    {
        std::vector<BlockShare> next;
        const uint64_t parts = layout.GetParts(i);
        // Parts differ in size by at most one, so these bounds hold every part that meets it.
        const uint64_t size = std::max<uint64_t>(shape[i] / parts, 1);
        const uint64_t low = box[i].begin / (size + 1);
        const uint64_t high = std::min(parts, box[i].end / size + 1);
        for (uint64_t part = low; part < high; ++part)
        {
            const Interval other = GetPart(shape[i], parts, part);
            const Interval common{std::max(box[i].begin, other.begin),
                                  std::min(box[i].end, other.end)};
            if (common.Size() > 0)
            {
                for (const auto& [block, elements] : blocks)
                {
                    next.emplace_back(block * parts + part, elements * common.Size());
                }
            }
        }
        blocks = std::move(next);
    }
    return blocks;
}

} // namespace

std::vector<BoxingTransfer>
GetBoxingTransfers(const BoxingStep& step, const Shape& shape)
{
    const DeviceMesh& source = *step.from.mesh;
    const DeviceMesh& target = *step.to.mesh;
    const std::size_t rank = shape.size();
    // Who has a block: positions in the order of the replicas.
    std::vector<std::vector<uint32_t>> holders(CountBlocks(step.from, rank));
    for (uint32_t position = 0; position < source.GetDevices().size(); ++position)
    {
        holders[GetBlock(step.from, rank, position)].push_back(position);
    }
    // The replica number of a receiver: how many with the same block came before it.
    std::vector<uint32_t> seen(CountBlocks(step.to, rank));
    std::vector<BoxingTransfer> transfers;
    for (uint32_t to = 0; to < target.GetDevices().size(); ++to)
    {
        const uint32_t replica = seen[GetBlock(step.to, rank, to)]++;
        const uint32_t self = source.FindPosition(target.GetDevices()[to]);
        for (const auto& [block, elements] :
             FindBlocks(step.from, shape, step.to.GetBox(shape, to)))
        {
            const std::vector<uint32_t>& have = holders[block];
            const bool hasIt = std::find(have.begin(), have.end(), self) != have.end();
            const uint32_t from = hasIt ? self : have[replica % have.size()];
            transfers.push_back({from, to, elements});
        }
    }
    return transfers;
}

BoxingVolume
GetBoxingVolume(const Layout& from, const Layout& to, const Shape& shape)
{
    BoxingVolume volume;
    for (const BoxingStep& step : PlanBoxing(from, to, shape, {true, true}))
    {
        if (step.collective == Collective::SEND_RECV)
        {
            std::vector<double> sent(step.from.mesh->GetDevices().size());
            for (const BoxingTransfer& transfer : GetBoxingTransfers(step, shape))
            {
                if (step.from.mesh->GetDevices()[transfer.from] !=
                    step.to.mesh->GetDevices()[transfer.to])
                {
                    sent[transfer.from] += static_cast<double>(transfer.elements);
                    volume.total += static_cast<double>(transfer.elements);
                }
            }
            volume.perDevice += *std::max_element(sent.begin(), sent.end());
            continue;
        }
        double most = 0;
        for (const BoxingGroup& group : GetBoxingGroups(step, shape))
        {
            const auto p = static_cast<double>(group.devices.size());
            const double share = static_cast<double>(group.elements) * (p - 1) / p;
            double each = share;
            double all = share * p;
            if (step.collective == Collective::ALL_REDUCE)
            {
                each *= 2;
                all *= 2;
            }
            else if (step.collective == Collective::SCATTER ||
                     step.collective == Collective::GATHER)
            {
                each = step.collective == Collective::SCATTER ? share : share / (p - 1);
                all = share;
            }
            most = std::max(most, each);
            volume.total += all;
        }
        volume.perDevice += most;
    }
    return volume;
}

} // namespace proteus
} // namespace ns3
