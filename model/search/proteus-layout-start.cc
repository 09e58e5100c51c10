/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "proteus-layout-space.h"

#include <algorithm>

/**
 * @file
 * @ingroup proteus
 * What experts would choose, operator by operator.
 */

namespace ns3
{
namespace proteus
{

namespace
{

/// @return the operators behind the last convolution that are linear layers
std::vector<OperatorId>
FindClassifier(const Model& model)
{
    std::vector<OperatorId> linear;
    bool hasConvolution = false;
    for (OperatorId id = 0; id < model.GetOperators().size(); ++id)
    {
        const std::string& kind = model.GetOperator(id).kind;
        if (kind == "convolution")
        {
            hasConvolution = true;
            linear.clear();
        }
        else if (hasConvolution && kind == "linear")
        {
            linear.push_back(id);
        }
    }
    return linear;
}

/// Chooses operator by operator, in the order of the model.
class StartWalk
{
  public:
    StartWalk(const LayoutSpace& space, LayoutStart start)
        : m_space(space),
          m_start(start),
          m_nAxes(space.GetOptions().mesh->GetNAxes()),
          m_classifier(FindClassifier(space.GetModel()))
    {
    }

    LayoutChoice Run()
    {
        const std::vector<ModelOperator>& operators = m_space.GetModel().GetOperators();
        for (OperatorId id = 0; id < operators.size(); ++id)
        {
            m_choice.push_back(FindNearest(id, GetWanted(id)));
        }
        return m_choice;
    }

  private:
    static uint32_t GetBatch(const ModelOperator& op)
    {
        const uint32_t batch = op.FindDimension("batch");
        return batch == NO_ID ? 0 : batch;
    }

    /// @return by mesh axis: the dimension to split, NO_ID for none
    std::vector<uint32_t> GetWanted(OperatorId id)
    {
        const ModelOperator& op = m_space.GetModel().GetOperator(id);
        std::vector<uint32_t> wanted(m_nAxes, GetBatch(op));
        for (MeshAxis axis = 0; axis < m_nAxes; ++axis)
        {
            if (m_start == LayoutStart::CLASSIFIER)
            {
                wanted[axis] = GetClassifierSplit(id, axis);
            }
            else if (m_start == LayoutStart::ALL_TENSOR ||
                     (m_start == LayoutStart::MEGATRON && axis + 1 == m_nAxes))
            {
                wanted[axis] = GetTensorSplit(op, axis);
            }
        }
        if (op.forward.isMatrixProduct && op.tensorParallel.empty())
        {
            m_splitsResult = !m_splitsResult;
        }
        return wanted;
    }

    uint32_t GetTensorSplit(const ModelOperator& op, MeshAxis axis) const
    {
        if (!op.tensorParallel.empty())
        {
            return op.FindDimension(op.tensorParallel);
        }
        if (!op.forward.isMatrixProduct)
        {
            return m_start == LayoutStart::ALL_TENSOR ? NO_ID : Follow(op, axis, NO_ID);
        }
        const bool isResult = m_start == LayoutStart::ALL_TENSOR || m_splitsResult;
        return op.FindDimension(isResult ? "out" : "in");
    }

    uint32_t GetClassifierSplit(OperatorId id, MeshAxis axis) const
    {
        const ModelOperator& op = m_space.GetModel().GetOperator(id);
        const auto found = std::find(m_classifier.begin(), m_classifier.end(), id);
        if (m_classifier.empty() || id < m_classifier.front())
        {
            return GetBatch(op);
        }
        if (found == m_classifier.end())
        {
            return Follow(op, axis, GetBatch(op));
        }
        const auto number = static_cast<std::size_t>(found - m_classifier.begin());
        const bool isAlone = number % 2 == 0 && number + 1 == m_classifier.size();
        if (isAlone && number > 0)
        {
            return GetBatch(op);
        }
        return op.FindDimension(number % 2 == 0 ? "out" : "in");
    }

    /// @return the dimension that its first input is split by already, if it can be
    uint32_t Follow(const ModelOperator& op, MeshAxis axis, uint32_t otherwise) const
    {
        for (const Access& read : op.reads)
        {
            const ModelTensor& tensor = m_space.GetModel().GetTensor(read.tensor);
            if (tensor.role != TensorRole::ACTIVATION)
            {
                continue;
            }
            const LayoutCandidate& made =
                m_space.GetCandidates(tensor.producer)[m_choice[tensor.producer]];
            const uint32_t dimension = made.writes[0].FindDimension(axis);
            if (dimension == NO_ID || read.map[dimension].empty())
            {
                return otherwise;
            }
            const uint32_t mine = read.map[dimension][0];
            return op.dimensions[mine].isSplittable ? mine : otherwise;
        }
        return otherwise;
    }

    /// @return the first of the candidates that agree on most axes
    uint32_t FindNearest(OperatorId id, const std::vector<uint32_t>& wanted) const
    {
        const std::vector<AxisRule> rules = GetAxisRules(m_space.GetModel().GetOperator(id));
        const std::vector<LayoutCandidate>& candidates = m_space.GetCandidates(id);
        uint32_t best = 0;
        int mostAgree = -1;
        for (uint32_t i = 0; i < candidates.size(); ++i)
        {
            int agree = 0;
            for (MeshAxis axis = 0; axis < m_nAxes; ++axis)
            {
                const uint32_t rule = candidates[i].rules[axis];
                // What is not split is replicated, and no partial sum.
                agree += wanted[axis] == NO_ID ? rule + 1 == rules.size()
                                               : rules[rule].dimension == wanted[axis];
            }
            if (agree > mostAgree)
            {
                best = i;
                mostAgree = agree;
            }
        }
        return best;
    }

    const LayoutSpace& m_space;
    LayoutStart m_start;
    MeshAxis m_nAxes;
    std::vector<OperatorId> m_classifier;
    LayoutChoice m_choice;     //!< so far
    bool m_splitsResult{true}; //!< whether the next product without a mark splits its results
};

} // namespace

bool
HasClassifier(const Model& model)
{
    return !FindClassifier(model).empty();
}

LayoutChoice
LayoutSpace::MakeStart(LayoutStart start) const
{
    return StartWalk(*this, start).Run();
}

} // namespace proteus
} // namespace ns3
