/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_EMIT_UNITS_H
#define PROTEUS_EMIT_UNITS_H

#include "proteus-emit-context.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: parameters that replicas share, gathered unit by unit (ZeRO 3).
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// @param path of an operator @return its numbered block ("layer3" of "layer3.qkv"), or nothing
std::string FindBlock(const std::string& path);

/// @ingroup proteus
/// @param name of a parameter @return whether it has the biases of all experts of a layer, a row
/// each: vectors to optimizers and casts, as frameworks have a tensor for each
bool HasExpertBiases(const std::string& name);

/// @ingroup proteus
/// @param name of a parameter @param shape of it @return whether Muon makes its update orthogonal:
/// the matrices in a model's numbered blocks, not embedding, output layer, norms and biases (Jordan
/// et al. 2024; Liu et al. 2025, section 2)
bool IsMuonMatrix(const std::string& name, const std::vector<uint64_t>& shape);

/**
 * @ingroup proteus
 * Has what replicas gather and scatter unit by unit in the backward pass go one after the other in
 * each group of devices, in the order in which the host asks for it: while a unit is computed, the
 * parameters of the next one are gathered; then the unit's gradients are scattered, then those of
 * the unit after the next one are gathered. FSDP has one communicator for both
 * (torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py; _runtime_utils.py of FSDP1), and NCCL
 * runs kernels of one communicator in turn, whatever their streams (src/enqueue.cc,
 * ncclLaunchPrepare(): "depends on all of {deviceStream, hostStream, userStream[i]...}"). So no
 * more than two units have gradients that wait.
 * @param context of the compilation, with what was emitted
 */
void OrderUnits(EmitContext& context);

/**
 * @ingroup proteus
 * Gathers the parameters of a unit in one piece per group of devices, as PyTorch's FSDP does with
 * its flat parameters and DeepSpeed with its buckets. A unit is a numbered block of the model, or
 * what stands between two blocks. It is gathered once in the forward pass and once in the backward
 * pass; what is computed again uses the latter. Gathering may begin when the unit before begins, so
 * that one unit is gathered while another one is used (FSDP's limit of two at a time), or behind
 * what the host waited for in that unit.
 */
class UnitGatherer
{
  public:
    /// @param context of the compilation; outlives this object
    /// @param tensors where they are; outlive this object
    /// @param recent last kernels; outlive this object
    /// @param next what the next iteration waits for; outlives this object
    UnitGatherer(EmitContext& context,
                 const EmitTensors& tensors,
                 const RecentKernels& recent,
                 EmitNextIteration& next);

    /**
     * Finds a parameter, and gathers its unit where that has not been done.
     * @param id of the operator that reads it
     * @param tensor the parameter
     * @param layout that the operator needs
     * @param isBackward whether it reads it in the backward pass
     * @return the parameter; null if it is not gathered with a unit
     */
    const Value* Find(OperatorId id, TensorId tensor, const Layout& layout, bool isBackward);

    /// Lets the next unit begin to gather behind the last kernel, where the host waited for it.
    void Wait()
    {
        m_begin = m_recent.GetLast();
    }

  private:
    /// A parameter that is gathered.
    struct Part
    {
        TensorId tensor{0};
        Value value;                     //!< where it is then
        BoxingStep step;                 //!< that gathers it
        std::vector<BoxingGroup> groups; //!< of that
    };

    /// What a group of devices gathers together.
    struct Bucket
    {
        std::vector<DeviceId> devices;
        uint64_t bytes{0};
        std::vector<TaskId> ready; //!< what it waits for
        TaskId task{0};            //!< that does it
    };

    /// The parameters of a unit in a pass.
    struct Unit
    {
        bool isGathered{false};
        std::vector<Part> parts;
    };

    /// Finds what a unit needs. @param unit its number @param isBackward which pass
    std::vector<Part> FindParts(uint32_t unit, bool isBackward) const;
    /// @param tensor a parameter @param layout that is needed @param parts get it, if it has to be
    /// gathered and is not there
    void AddPart(TensorId tensor, const Layout& layout, std::vector<Part>& parts) const;
    /// Makes the communication. @param unit its number @param isBackward which pass
    /// @param gathered the unit, which gets its parts
    void Gather(uint32_t unit, bool isBackward, Unit& gathered);
    /// Finds what parameters are gathered in: weights of products in one byte or in four bits.
    void FindGatheredBytes();
    /// @param tensor a parameter that only products read @return bytes of each of its elements when
    /// it is gathered
    double FindWeightBytes(const ModelTensor& tensor) const;
    /// @param part a parameter @param buckets get its bytes
    void AddToBuckets(const Part& part, std::vector<Bucket>& buckets) const;

    EmitContext& m_context;
    const EmitTensors& m_tensors;
    const RecentKernels& m_recent;
    EmitNextIteration& m_next;
    std::vector<double> m_bytes; //!< by tensor: of each element when it is gathered
    std::map<std::pair<uint32_t, bool>, Unit> m_units;
    std::pair<MeshPtr, Row> m_begin; //!< last kernel before the unit that was gathered last
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_EMIT_UNITS_H
