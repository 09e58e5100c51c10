/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_KERNEL_WORK_H
#define PROTEUS_KERNEL_WORK_H

#include "ns3/proteus-graph.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * What an operator asks of a GPU: shapes and bytes, before any of it has a time.
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// Operators whose time depends on the same things.
enum class KernelClass : uint8_t
{
    GEMM,            //!< matrix product, of one or of a batch; shape {batch, m, n, k}
    CONVOLUTION,     //!< as an implicit GEMM; shape {n, filters, c, output h, output w, r, s}
    ATTENTION,       //!< product, softmax, dropout, product; shape {batch, queries, keys, head}
    FUSED_ATTENTION, //!< one kernel, scores stay on the chip; shape {batch, queries, keys, head}
    NORMALIZATION,   //!< layer, RMS or batch norm; shape {rows, columns}
    SOFTMAX,         //!< shape {rows, columns}
    ELEMENTWISE,     //!< shape {bytes}
    EMBEDDING,       //!< shape {tokens, columns, rows of the table}
    OPTIMIZER,       //!< one long stream over all parameters; shape {bytes}
};

/// @ingroup proteus
/// Which part of an operator.
enum class KernelPass : uint8_t
{
    FORWARD,         //!< the result
    BACKWARD,        //!< all gradients together
    INPUT_GRADIENT,  //!< of a matrix product with weights
    WEIGHT_GRADIENT, //!< of a matrix product with weights
};

/// @ingroup proteus
/// @param kernelClass a value @return its name as files write it, e.g. "fused-attention"
const char* ToString(KernelClass kernelClass);
/// @ingroup proteus
/// @param pass a value @return its name as files write it, e.g. "weight-gradient"
const char* ToString(KernelPass pass);
/**
 * @ingroup proteus
 * Inverse of ToString().
 * @param text the name
 * @return the value
 * @throw std::invalid_argument that lists the known names
 */
KernelClass KernelClassFromString(const std::string& text);
/**
 * @ingroup proteus
 * Inverse of ToString().
 * @param text the name
 * @return the value
 * @throw std::invalid_argument that lists the known names
 */
KernelPass KernelPassFromString(const std::string& text);

/// @ingroup proteus
/// @param kernelClass a value @return how many numbers its shape has; see ProfileTable::Add()
std::size_t GetShapeSize(KernelClass kernelClass);

/// @ingroup proteus
/// Bytes that move to quantise an operand of a product in NVFP4, for each of its elements in 16
/// bits: its greatest size is found, also of what a random Hadamard transform makes of it, in one
/// kernel (2); a second writes it in rows (2 + 9/16), a third, behind the transform, in columns
/// for the product of the weights' gradient (2 + 9/16). 9/16 bytes are 4 bits and a scale of 8 for
/// 16 numbers (NVIDIA, "Pretraining Large Language Models with NVFP4", arXiv 2509.25149, sections 2
/// and 4; TransformerEngine, NVFP4Quantizer::quantize_impl() and nvte_hadamard_transform_amax()).
constexpr double FP4_OPERAND_BYTES = 2 + 2 * (2 + 9.0 / 16);
/// Kernels that do so.
constexpr uint32_t FP4_OPERAND_KERNELS = 3;
/// The same of a weight, which is not transformed: its blocks are squares of 16, and one kernel
/// writes it both ways (the same, NVFP4 with 2D scaling). Once for each product that reads it.
constexpr double FP4_WEIGHT_BYTES = 2 + 2 + 2 * 9.0 / 16;
/// Kernels that do so.
constexpr uint32_t FP4_WEIGHT_KERNELS = 2;

/// @ingroup proteus
/// @param type a number format @return bytes per element, 1 to 4; fp4 with its scales counts as one
uint32_t GetElementBytes(DataType type);

/// @ingroup proteus
/// batch x (m x k) x (k x n), in one kernel.
struct MatrixProduct
{
    uint64_t batch{1}; //!< independent products
    uint64_t m{0};     //!< rows of the result
    uint64_t n{0};     //!< columns of the result
    uint64_t k{0};     //!< what is summed over
    uint64_t bytes{0}; //!< traffic in device memory

    /// @return floating point operations, 2 per multiply-add
    double GetFlops() const
    {
        return 2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) *
               static_cast<double>(k);
    }
};

/**
 * @ingroup proteus
 * An operator's kernels. Made by the functions below, or by hand for an operator that they do not
 * know: class, pass, type and shape are its name in a ProfileTable; the other fields decide what
 * KernelCostModel makes of it.
 */
struct KernelWork
{
    KernelClass kernelClass{KernelClass::ELEMENTWISE}; //!< what it is
    KernelPass pass{KernelPass::FORWARD};              //!< which part of it
    DataType type{DataType::BF16};                     //!< of the matrix products
    std::vector<uint64_t> shape;                       //!< see KernelClass
    std::vector<MatrixProduct> products;               //!< one kernel each
    double fusedFlops{0};                              //!< FORWARD or BACKWARD of a FUSED_ATTENTION
    /// Of a FUSED_ATTENTION: keys that a query looks at, with the last of which it stands in line;
    /// 0: all before it.
    uint64_t window{0};
    /// Of a FUSED_ATTENTION: whether a query looks only at keys up to its own.
    bool isCausal{true};
    /// Kernels of that shape that a FUSED_ATTENTION is made of, as in a ring.
    uint32_t parts{1};
    uint64_t mergedBytes{0};  //!< traffic of kernels that join what the parts have made
    uint64_t bytes{0};        //!< traffic of the other kernels that are no matrix products
    uint32_t otherKernels{0}; //!< how many of those there are
    /// Whether these kernels reduce rows: norms, softmax, losses. They reach less of the bandwidth.
    bool isRowWise{false};
    /// Elements that one block of threads reads and writes in turn in a kernel with few blocks; 0:
    /// blocks are no limit.
    uint64_t blockElements{0};
    /// Elements in all windows of a pool, overlaps counted each time; 0: it is no pool.
    uint64_t windowElements{0};
    /// Whether they are products of all experts of a device, which frameworks may leave to one
    /// kernel for all: see KernelCostParameters::groupedShares.
    bool isGrouped{false};
    /// Elements of a convolution's input, which its shape, that of the output, does not tell.
    uint64_t convolutionInput{0};

    /// @return floating point operations of matrix products and fused attention
    double GetFlops() const;
    /// @return traffic of all kernels
    uint64_t GetBytes() const;
    /// @return kernels that the host has to issue
    uint32_t GetNKernels() const;
};

/**
 * @ingroup proteus
 * A matrix product by itself.
 * @param batch independent products
 * @param m rows of the result
 * @param n columns of the result
 * @param k what is summed over
 * @param type number format
 * @return the work; operands are read once and the result is written once, with 2 bytes per
 * element in fp8, where results have 16 bits
 * @throw std::invalid_argument if a size is 0
 */
KernelWork MakeGemmWork(uint64_t batch, uint64_t m, uint64_t n, uint64_t k, DataType type);

/**
 * @ingroup proteus
 * Forward pass of a linear layer: y = x w.
 *
 * In fp8, a kernel of its own quantises x: it reads 2 bytes per element and writes 1 byte twice.
 * The second copy is the transpose, which the backward pass needs, since the fp8 units of Hopper
 * multiply only operands that are both contiguous along k; Transformer Engine keeps both copies.
 *
 * @param rows of x, i.e. tokens
 * @param in columns of x
 * @param out columns of y
 * @param type number format
 * @return the work
 * @throw std::invalid_argument if a size is 0
 */
KernelWork MakeLinearForwardWork(uint64_t rows, uint64_t in, uint64_t out, DataType type);

/**
 * @ingroup proteus
 * Gradient of x in y = x w. In fp8, the gradient of y is quantised here, once for this product and
 * that of the weight gradient.
 * @param rows of x
 * @param in columns of x
 * @param out columns of y
 * @param type number format
 * @return the work
 * @throw std::invalid_argument if a size is 0
 */
KernelWork MakeLinearInputGradientWork(uint64_t rows, uint64_t in, uint64_t out, DataType type);

/**
 * @ingroup proteus
 * Gradient of w in y = x w, added into a buffer by the matrix product.
 * @param rows of x
 * @param in columns of x
 * @param out columns of y
 * @param type number format
 * @param gradientBytes per element of the buffer; 0 if the gradient is written, not added
 * @return the work
 * @throw std::invalid_argument if a size is 0
 */
KernelWork MakeLinearWeightGradientWork(uint64_t rows,
                                        uint64_t in,
                                        uint64_t out,
                                        DataType type,
                                        uint32_t gradientBytes = 4);

/// @ingroup proteus
/// Geometry of a two-dimensional convolution with the same stride and padding both ways.
struct ConvolutionShape
{
    uint64_t batch{1};         //!< images
    uint64_t channels{};       //!< of the input
    uint64_t height{};         //!< of the input
    uint64_t width{};          //!< of the input
    uint64_t filters{};        //!< channels of the output
    uint64_t kernelHeight{1};  //!< of the window
    uint64_t kernelWidth{1};   //!< of the window
    uint64_t stride{1};        //!< of the window, both ways
    uint64_t paddingHeight{0}; //!< rows added above and below
    uint64_t paddingWidth{0};  //!< columns added left and right

    /// @return rows of the output
    uint64_t GetOutputHeight() const;
    /// @return columns of the output
    uint64_t GetOutputWidth() const;
};

/**
 * @ingroup proteus
 * A convolution as the matrix product that cuDNN's implicit GEMM makes of it: forward m = pixels of
 * the output, n = filters, k = channels x window; input gradient n = channels x window, k =
 * filters; weight gradient m = filters, n = channels x window, k = pixels. The unfolded operand
 * exists only in the chip, so traffic counts input, output and weights once.
 *
 * @param shape geometry
 * @param pass FORWARD, INPUT_GRADIENT or WEIGHT_GRADIENT
 * @param type number format
 * @return the work
 * @throw std::invalid_argument if a size is 0, the window is larger than the padded input, or the
 * pass is BACKWARD
 */
KernelWork MakeConvolutionWork(const ConvolutionShape& shape, KernelPass pass, DataType type);

/**
 * @ingroup proteus
 * Whether the framework has one kernel for scale, mask and softmax of these scores. Megatron-LM
 * (megatron/core/fusions/fused_softmax.py, is_kernel_available()) has one for 16 bits, 16 < keys <=
 * 4096, and numbers of queries, keys and matrices divisible by 4. Otherwise, e.g. for 2 heads of
 * one sequence on a device, it takes five kernels in fp32.
 *
 * @param matrices sequences times heads on the device
 * @param queries rows of a matrix
 * @param keys columns of a matrix
 * @param type number format
 * @return whether softmax is one kernel
 */
bool HasFusedSoftmax(uint64_t matrices, uint64_t queries, uint64_t keys, DataType type);

/**
 * @ingroup proteus
 * The unfused attention core: Q K^T, softmax (one kernel or several, see HasFusedSoftmax()),
 * dropout, product with V; the scores go through device memory between them. Backward: two products
 * for V and the scores' gradient, dropout, softmax, two products for Q and K.
 *
 * @param matrices sequences times heads on the device
 * @param queries tokens of a sequence
 * @param keys tokens that they look at
 * @param head size of a head
 * @param pass FORWARD or BACKWARD
 * @param type number format; fp8 is taken as bf16
 * @param dropout whether there is dropout on the scores
 * @return the work
 * @throw std::invalid_argument if a size is 0 or the pass is another
 */
KernelWork MakeAttentionWork(uint64_t matrices,
                             uint64_t queries,
                             uint64_t keys,
                             uint64_t head,
                             KernelPass pass,
                             DataType type,
                             bool dropout = true);

/**
 * @ingroup proteus
 * Fused attention (FlashAttention-2, cuDNN): one kernel whose backward pass computes the scores
 * again, 2.5 times the operations of the forward pass (Dao 2023, section 4.1) where heads of keys
 * and of values are equally wide: three products with keys and two with values, for one each.
 *
 * @param matrices sequences times heads on the device
 * @param queries tokens of a sequence
 * @param keys tokens that they look at
 * @param head size of a head
 * @param pass FORWARD or BACKWARD
 * @param type number format; fp8 is taken as bf16
 * @param causal whether tokens look only at those before them: half the operations
 * @param value size of a head of the values, if it is another than that of queries and keys; the
 * shape then has it as a fifth number
 * @return the work
 * @throw std::invalid_argument if a size is 0 or the pass is another
 */
KernelWork MakeFusedAttentionWork(uint64_t matrices,
                                  uint64_t queries,
                                  uint64_t keys,
                                  uint64_t head,
                                  KernelPass pass,
                                  DataType type,
                                  bool causal = true,
                                  uint64_t value = 0);

/**
 * @ingroup proteus
 * Layer or RMS norm over the columns. Forward reads and writes; backward reads gradient and input
 * and writes the gradient.
 * @param rows vectors that are normalised
 * @param columns elements of each
 * @param pass FORWARD or BACKWARD
 * @param type number format
 * @param residual backward: whether the residual's gradient is read and added
 * @return the work
 * @throw std::invalid_argument if a size is 0 or the pass is another
 */
KernelWork MakeNormalizationWork(uint64_t rows,
                                 uint64_t columns,
                                 KernelPass pass,
                                 DataType type,
                                 bool residual = false);

/**
 * @ingroup proteus
 * Softmax over the columns: one kernel, backward two, as in PyTorch.
 * @param rows vectors
 * @param columns elements of each
 * @param pass FORWARD or BACKWARD
 * @param type number format
 * @return the work
 * @throw std::invalid_argument if a size is 0 or the pass is another
 */
KernelWork MakeSoftmaxWork(uint64_t rows, uint64_t columns, KernelPass pass, DataType type);

/**
 * @ingroup proteus
 * Anything that memory traffic decides: activation, dropout, residual, copy, permutation, pooling,
 * the passes of a cross entropy.
 * @param bytes read and written
 * @param pass for the profile table
 * @param type for the profile table
 * @param kernels how many kernels move them
 * @return the work
 */
KernelWork MakeElementwiseWork(uint64_t bytes,
                               KernelPass pass,
                               DataType type,
                               uint32_t kernels = 1);

/**
 * @ingroup proteus
 * Rows of an embedding table. Forward reads and writes one row per token. Backward makes the
 * gradient of the whole table, as PyTorch's dense embedding_dense_backward() does: it writes zeros,
 * adds the rows' gradients in the order of sorted indices, and adds the result to the gradient
 * buffer.
 * @param tokens how many rows are read
 * @param columns elements of a row
 * @param tableRows rows of the table on this device
 * @param pass FORWARD or BACKWARD
 * @param type number format
 * @param gradientBytes backward: per element of the gradient buffer; 0 if there is none
 * @return the work
 * @throw std::invalid_argument if a size is 0 or the pass is another
 */
KernelWork MakeEmbeddingWork(uint64_t tokens,
                             uint64_t columns,
                             uint64_t tableRows,
                             KernelPass pass,
                             DataType type,
                             uint32_t gradientBytes = 4);

/**
 * @ingroup proteus
 * An optimizer step as one fused kernel over all parameters (apex's FusedAdam).
 * @param bytes of gradient, parameter and state, read and written
 * @return the work
 */
KernelWork MakeOptimizerWork(uint64_t bytes);

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_KERNEL_WORK_H
