/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-convolution-cost.h"

#include "ns3/proteus-enum-names.h"
#include "ns3/proteus-whole-number.h"

namespace ns3
{
namespace proteus
{

namespace
{

constexpr EnumNames<ImageLayout, 3> LAYOUTS{"layout of images",
                                            {{ImageLayout::CHANNELS_LAST, "last"},
                                             {ImageLayout::CHANNELS_FIRST, "first"},
                                             {ImageLayout::LAST_IN_16_BITS, "last-in-16-bits"}}};

/// The window that Winograd's ways are made for.
constexpr uint64_t WINDOW = 3;
/// Pixels along a side of a tile, as cuDNN has them.
constexpr uint64_t FUSED_TILE = 2;
constexpr uint64_t LARGE_TILE = 4;

/// The sizes of a convolution, by name.
struct Sizes
{
    explicit Sizes(const KernelWork& work)
        : images(work.shape[0]),
          filters(work.shape[1]),
          channels(work.shape[2]),
          height(work.shape[3]),
          width(work.shape[4]),
          window(work.shape[5] == work.shape[6] ? work.shape[5] : 0),
          input(work.convolutionInput),
          output(images * filters * height * width * CountGroups(work))
    {
    }

    /// A stride leaves out at least half of the input; without one, there is a border more of it.
    bool HasStride() const
    {
        return input >= 2 * images * channels * height * width;
    }

    uint64_t images;
    uint64_t filters;
    uint64_t channels;
    uint64_t height; //!< of the output
    uint64_t width;  //!< of the output
    uint64_t window; //!< 0 if it is not square
    uint64_t input;  //!< elements
    uint64_t output; //!< elements
};

/// @return the way with tiles of m x m pixels of the result
WinogradWay
MakeWay(const Sizes& sizes, KernelPass pass, uint64_t m, uint64_t element)
{
    const uint64_t points = (m + WINDOW - 1) * (m + WINDOW - 1);
    const uint64_t tiles = sizes.images * DivideUp(sizes.height, m) * DivideUp(sizes.width, m);
    WinogradWay way;
    way.product.batch = points;
    switch (pass)
    {
    case KernelPass::INPUT_GRADIENT:
        way.product.m = tiles;
        way.product.n = sizes.channels;
        way.product.k = sizes.filters;
        break;
    case KernelPass::WEIGHT_GRADIENT:
        way.product.m = sizes.filters;
        way.product.n = sizes.channels;
        way.product.k = tiles;
        break;
    default:
        way.product.m = tiles;
        way.product.n = sizes.filters;
        way.product.k = sizes.channels;
        break;
    }
    const uint64_t weights = sizes.channels * sizes.filters;
    const uint64_t transformed = points * (tiles * (sizes.channels + sizes.filters) + weights);
    way.product.bytes = element * transformed;
    // The transforms read and write both sides; the product's own traffic comes besides.
    way.bytes = element * (sizes.input + sizes.output + WINDOW * WINDOW * weights + transformed);
    return way;
}

} // namespace

const char*
ToString(ImageLayout layout)
{
    return LAYOUTS.Get(layout);
}

ImageLayout
ImageLayoutFromString(const std::string& text)
{
    return LAYOUTS.Parse(text);
}

bool
IsChannelsFirst(ImageLayout layout, DataType type)
{
    return layout == ImageLayout::CHANNELS_FIRST ||
           (layout == ImageLayout::LAST_IN_16_BITS && GetElementBytes(type) == 4);
}

std::vector<WinogradWay>
ListWinogradWays(const KernelWork& work, KernelPass pass)
{
    const Sizes sizes(work);
    if (sizes.window != WINDOW || sizes.HasStride() || CountGroups(work) > 1)
    {
        return {};
    }
    const uint64_t element = GetElementBytes(work.type);
    std::vector<WinogradWay> ways;
    for (const uint64_t m : {FUSED_TILE, LARGE_TILE})
    {
        ways.push_back(MakeWay(sizes, pass, m, element));
    }
    if (pass != KernelPass::WEIGHT_GRADIENT)
    {
        WinogradWay fused = ways.front();
        fused.isFused = true;
        fused.bytes = element * (sizes.input + sizes.output +
                                 WINDOW * WINDOW * sizes.channels * sizes.filters);
        ways.push_back(fused);
    }
    return ways;
}

void
MakeGrouped(KernelWork& work, uint64_t groups, uint64_t bytes)
{
    const std::vector<uint64_t>& shape = work.shape;
    const uint64_t pixels = shape[0] * shape[3] * shape[4];
    const uint64_t filters = shape[1];
    const uint64_t channels = shape[2];
    const uint64_t window = shape[5] * shape[6];
    work.products = {work.pass == KernelPass::INPUT_GRADIENT
                         ? MatrixProduct{groups, pixels, channels, filters * window, bytes}
                     : work.pass == KernelPass::WEIGHT_GRADIENT
                         ? MatrixProduct{groups, filters, channels * window, pixels, bytes}
                         : MatrixProduct{groups, pixels, filters, channels * window, bytes}};
    work.shape.push_back(groups);
}

uint64_t
CountGroups(const KernelWork& work)
{
    constexpr std::size_t GROUPS = 7; // place in the shape
    return work.shape.size() > GROUPS ? work.shape[GROUPS] : 1;
}

double
CountDepthwiseOperations(const KernelWork& work,
                         KernelPass pass,
                         const DepthwiseOperations& operations)
{
    const auto results = static_cast<double>(Sizes(work).output);
    const auto window = static_cast<double>(work.shape[5] * work.shape[6]);
    return pass == KernelPass::WEIGHT_GRADIENT && operations.perWeightGradient > 0
               ? results * window * operations.perWeightGradient
               : results * (window * operations.perWeight + operations.perResult);
}

uint64_t
GetTurnedBytes(const KernelWork& work, ImageLayout layout, bool isOnMatrixUnits)
{
    if (IsChannelsFirst(layout, work.type) != isOnMatrixUnits)
    {
        return 0;
    }
    const Sizes sizes(work);
    return 2 * GetElementBytes(work.type) * (sizes.input + sizes.output);
}

} // namespace proteus
} // namespace ns3
