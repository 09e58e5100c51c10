/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef PROTEUS_PLACER_H
#define PROTEUS_PLACER_H

#include "proteus-placement-config.h"
#include "proteus-placement.h"

#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup proteus
 * Internal to the room strategy/: what makes the placement of PlaceModel().
 */

namespace ns3
{
namespace proteus
{

/// @ingroup proteus
/// A configuration on the mesh that it shares with others.
struct Refined
{
    MeshPtr mesh;
    std::vector<MeshConfig::Split> splits; //!< axes are the shared mesh's
    bool isComplete{false};
};

/// @ingroup proteus
/// What a strategy says of an operator, in terms of meshes.
struct Wanted
{
    NodeSpec spec;
    MeshConfig own;
    MeshConfig inherited;
    std::map<std::string, MeshConfig> items;
};

/// @ingroup proteus
/// What has come of a split that a node passes on to the operators below it.
enum class SplitUse : uint8_t
{
    NO_DIMENSION, //!< none of them has the dimension
    UNSPLITTABLE, //!< some have, but need it whole
    NO_AXIS,      //!< some could, but their meshes lack the axes
    USED,         //!< some do
};

/**
 * @ingroup proteus
 * Makes a Placement. proteus-placement.cc has the operators, proteus-placement-tensors.cc what they
 * read and write.
 */
class Placer
{
  public:
    /**
     * @param model what is trained; outlives this object
     * @param tree the strategy; outlives this object
     */
    Placer(const Model& model, const StrategyTree& tree)
        : m_model(model),
          m_tree(tree)
    {
    }

    /// @return the placement; to be called once
    Placement Place();

  private:
    [[noreturn]] void Fail(const Wanted& wanted,
                           const ModelOperator& op,
                           const std::string& cause) const
    {
        throw StrategyNodeError(*wanted.spec.nodes.back(),
                                "strategy \"" + m_tree.name + "\", node " + wanted.spec.node +
                                    ", operator \"" + op.name + "\": " + cause);
    }

    /// @param wanted of an operator @param op the operator @param dimension what cannot be split,
    /// in words @param extent of it @param parts it was to be split into @param mesh of the
    /// operator
    /// @param axes that were to split it
    [[noreturn]] void FailUneven(const Wanted& wanted,
                                 const ModelOperator& op,
                                 const std::string& dimension,
                                 uint64_t extent,
                                 uint64_t parts,
                                 const DeviceMesh& mesh,
                                 const std::vector<MeshAxis>& axes) const;
    void FollowInputs(const ModelOperator& op,
                      const std::vector<Wanted>& before,
                      NodeSpec& spec) const;
    Wanted ReadSpec(const ModelOperator& op, const std::vector<Wanted>& before);
    std::vector<SplitSpec> FindInherited(const ModelOperator& op,
                                         const DeviceMesh& mesh,
                                         const NodeSpec& spec);
    Refined Refine(const MeshConfig& config);
    void PlaceOperator(const ModelOperator& source, const Wanted& wanted);
    void Assign(PlacedOperator& placed,
                const Wanted& wanted,
                uint32_t dimension,
                const std::vector<MeshAxis>& axes) const;
    void CheckExtents(const PlacedOperator& placed, const Wanted& wanted) const;
    void InferFromInputs(PlacedOperator& placed, const Wanted& wanted) const;
    TensorId CopyTo(TensorId tensor, const PlacedOperator& reader, const Access& access);
    void Tie(TensorId parameter, TensorId copy);
    void AddTransfer(TensorId tensor, TensorId copy, const PlacedOperator& reader);
    void PlaceParameter(PlacedTensor& parameter,
                        const PlacedOperator& placed,
                        const Wanted& wanted,
                        const std::string& item,
                        bool isAsked);
    void PlaceReads(PlacedOperator& placed, const Wanted& wanted);
    void PlaceWrites(PlacedOperator& placed, const Wanted& wanted);
    void PassPartialSums(PlacedOperator& placed) const;
    std::vector<MeshAxis> FindPartial(const Wanted& wanted,
                                      const PlacedOperator& placed,
                                      const Layout& home,
                                      const Layout& made);
    std::optional<Layout> FindItem(const Wanted& wanted,
                                   const ModelOperator& op,
                                   const std::string& item,
                                   const ModelTensor& tensor,
                                   const MeshPtr& mesh);
    void SetState(PlacedTensor& tensor,
                  const PlacedOperator& placed,
                  const Wanted& wanted,
                  const std::string& item);
    std::string FindBeyond(const StrategyNode& node) const;
    void CheckUse(const StrategyNode& node, const std::string& path) const;
    void CheckSplits(const StrategyNode& node, const std::string& who) const;
    void CheckZero(const std::vector<Wanted>& wanted) const;
    void ShareWithReplicas(PlacedTensor& tensor,
                           const MeshPtr& mesh,
                           const std::vector<std::string>& axisNames) const;
    TensorId AddTensor(const ModelTensor& tensor, const Layout& home, uint32_t stage);

    const Model& m_model;
    const StrategyTree& m_tree;
    MeshTable m_meshes;
    Placement m_placement;
    std::vector<TensorId> m_tensorOf;                          //!< by the model's TensorId
    std::map<std::pair<TensorId, MeshPtr>, TensorId> m_copies; //!< on other devices
    std::set<const StrategyNode*> m_matched;                   //!< nodes with an operator
    std::set<std::pair<const StrategyNode*, std::string>> m_usedItems;
    /// By node and dimension of a split that it passes on: how far that has come.
    std::map<std::pair<const StrategyNode*, std::string>, SplitUse> m_usedSplits;
};

} // namespace proteus
} // namespace ns3

#endif // PROTEUS_PLACER_H
