/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-other-names.h"

/**
 * @file
 * @ingroup proteus
 * What Megatron-LM's arguments, DeepSpeed's and torchtitan's configurations, Hugging Face's
 * TrainingArguments and PyTorch call the parts of a strategy, and the optimizers of theirs that
 * there are none of here.
 */

namespace ns3
{
namespace proteus
{

namespace
{

using Words = OtherNamesRegistry::Registration;
using Missing = MissingThingRegistry::Registration;

const Words GLOBAL_BATCH("globalBatch",
                         {{"batch", "batchSize", "gbs", "globalBatchSize", "trainBatchSize"}});

const Words MICRO_BATCH("microBatch",
                        {{"mbs",
                          "microBatchSize",
                          "localBatchSize",
                          "perDeviceTrainBatchSize",
                          "trainMicroBatchSizePerGpu"}});

const Words TENSOR("tp",
                   {{"tensor",
                     "tensorParallel",
                     "tensorParallelDegree",
                     "tensorParallelism",
                     "tensorParallelSize",
                     "tensorModelParallelSize",
                     "tpDegree",
                     "tpSize",
                     "mp"}});

const Words PIPELINE("pp",
                     {{"pipeline",
                       "pipelineParallel",
                       "pipelineParallelDegree",
                       "pipelineParallelism",
                       "pipelineParallelSize",
                       "pipelineModelParallelSize",
                       "pipelineStages",
                       "ppDegree",
                       "ppSize",
                       "stages"}});

const Words DATA("dp",
                 {{"data",
                   "dataParallel",
                   "dataParallelDegree",
                   "dataParallelism",
                   "dataParallelReplicateDegree",
                   "dataParallelSize",
                   "dpDegree",
                   "dpSize",
                   "replicas"}});

const Words CONTEXT(
    "cp",
    {{"contextParallel", "contextParallelDegree", "contextParallelSize", "cpSize"}});

const Words EXPERT("ep",
                   {{"expertParallel",
                     "expertParallelDegree",
                     "expertParallelSize",
                     "expertModelParallelSize",
                     "epSize"}});

const Words EXPERT_TENSOR("etp", {{"expertTensorParallelSize", "etpSize"}});

const Words VIRTUAL_STAGES(
    "virtualStages",
    {{"vpp", "vp", "virtualPipeline", "interleave", "virtualPipelineModelParallelSize"}});

const Missing BLOCKS_OF_CHUNKS("blocks of virtual stages",
                               {"a plan",
                                {"numLayersPerVirtualPipelineStage"},
                                "a device has as many chunks as virtualStages says: blocks / pp "
                                "/ blocks of a chunk"});

const Words SEQUENCE_PARALLEL("sequenceParallel", {{"sp"}});

const Words ZERO("zero",
                 {{"zeroStage",
                   "zeroOptimization",
                   "fsdp",
                   "fsdp1",
                   "fsdp2",
                   "shardingStrategy",
                   "dpShard",
                   "dataParallelShardDegree"}});

const Words ZERO_GROUP(
    "zeroGroup",
    {{"hsdp", "hybridShard", "hybridSharding", "micsShardSize", "shardGroup", "shardGroupSize"}});

const Words RECOMPUTE("recompute",
                      {{"recomputation",
                        "checkpointing",
                        "activationCheckpoint",
                        "activationCheckpointing",
                        "activationRecomputation",
                        "gradientCheckpointing",
                        "recomputeGranularity"}});

const Words DATA_TYPE(
    "dataType",
    {{"dtype", "precision", "mixedPrecision", "amp", "bf16", "fp16", "fp32", "fp8", "tf32"}});

const Words OPTIMIZER("optimizer", {{"optim", "optimizerName", "optimizerType"}});

const Words MOMENTUM("momentum", {{"sgdm", "sgdMomentum", "sgdWithMomentum", "momentumSgd"}});

const Words OFFLOAD("offloadOptimizer",
                    {{"offload", "cpuOffload", "optimizerOffload", "optimizerCpuOffload"}});

const Missing MICRO_BATCHES("number of micro-batches",
                            {"a plan",
                             {"microBatches",
                              "microBatchCount",
                              "numMicroBatches",
                              "nMicroBatches",
                              "accumulateGradBatches",
                              "accumulationSteps",
                              "gas",
                              "gradAccum",
                              "gradientAccumulation",
                              "gradientAccumulationSteps"},
                             "a replica has globalBatch / (dp x microBatch) micro-batches; "
                             "globalBatch sets their number"});

const Missing DEVICES("number of devices",
                      {"a plan",
                       {"devices",
                        "gpus",
                        "gpuCount",
                        "nGpus",
                        "nnodes",
                        "nodes",
                        "nProc",
                        "nProcPerNode",
                        "numGpus",
                        "numNodes",
                        "worldSize"},
                       "a plan takes tp x pp x cp x dp devices; what there is says the cluster"});

const Missing SHAPE("shape of the model",
                    {"a plan",
                     {"contextLength",
                      "heads",
                      "hidden",
                      "hiddenSize",
                      "layers",
                      "maxSeqLen",
                      "maxSeqLength",
                      "maxSequenceLength",
                      "modelMaxLength",
                      "numAttentionHeads",
                      "numLayers",
                      "seqLen",
                      "seqLength",
                      "sequence",
                      "sequenceLength",
                      "vocab"},
                     "it is a variable of the model, proteus-run --variables=NAME=VALUE"});

const Missing KERNELS(
    "kernels",
    {"a plan",
     {"attention",
      "attentionKernel",
      "compile",
      "cudaGraphs",
      "flashAttention",
      "flashAttn",
      "framework",
      "fusedKernels",
      "torchCompile",
      "useFlashAttention",
      "useFlashAttn"},
     "kernels are those of the framework, --framework=NAME; --framework=NAME:attention=KERNEL "
     "chooses the one of attention"});

// Switches of Megatron-LM, NeMo and DeepSpeed.
const Missing OVERLAPPED_REDUCTION(
    "overlap of reductions",
    {"a plan",
     {"overlapComm", "overlapGradReduce", "overlapGradReduction", "overlapGradientReduction"},
     "gradients are reduced bucket by bucket beside the backward pass, unless buckets is "
     "\"whole\""});

const Words SCATTER_GATHER(
    "scatterGather",
    {{"scatterGatherTensors", "scatterGatherTensorsInPipeline", "pipePartitioned"}});

const Missing OVERLAPPED_TRANSFERS(
    "overlap of transfers",
    {"a plan",
     {"batchP2pComm",
      "batchP2pSync",
      "noOverlapP2pCommunication",
      "overlapP2p",
      "overlapP2pComm",
      "overlapP2pCommunication",
      "overlapP2pCommunicationWarmupFlush"},
     "interleaved stages have their transfers beside kernels; others wait for them where those of "
     "the framework do (waitsForTransfers of its file)"});

const Missing OVERLAPPED_GATHERS(
    "overlap of gathers",
    {"a plan",
     {"overlapParamGather", "overlapParameterGather"},
     "zero1Gathers is \"forward\" where parameters are gathered beside the forward pass"});

const Missing DISTRIBUTED_OPTIMIZER("distributed optimizer",
                                    {"a plan",
                                     {"distributedOptimizer", "useDistributedOptimizer"},
                                     "states of an optimizer are split by zero=1"});

const Missing OTHER_FACTORS(
    "optimizer came",
    {"optimizer",
     {"came"},
     "a moment beside the factors of rows and columns is not; adafactor is without (Shazeer and "
     "Stern 2018)"});

// Those of transformers' TrainingArguments (optim), apex and DeepSpeed.
const Words ADAM_FUSED("adam-fused", {{"adamwTorchFused", "adamTorchFused", "fusedAdam"}});
const Words ADAM_FOREACH("adam-foreach", {{"adamwTorch", "adamTorch", "foreachAdam"}});
const Words ADAM_8BIT("adam8bit", {{"adamwBnb8bit", "adam8b", "adamw8b"}});

const Missing OTHER_BITS(
    "optimizer lion8bit",
    {"optimizer",
     {"lion8bit", "pagedLion8bit", "pagedAdam8bit", "pagedAdamw8bit", "adamw4bit", "adamwFp8"},
     "of moments of less than 16 bits it has those of Adam, in 8 bits on the device (adam8bit)"});

const Missing PAGED(
    "optimizer pagedAdamw",
    {"optimizer",
     {"pagedAdamw", "pagedAdamw32bit", "pagedAdam", "pagedLion"},
     "memory of the host that comes as it is touched is not; adam with offloadOptimizer keeps "
     "state and update on the host"});

const Words MUON("muon", {{"muonclip", "distMuon"}});

const Missing OTHER_MUONS(
    "optimizer dion",
    {"optimizer",
     {"dion", "scion"},
     "it does other work on whole matrices than muon does, five Newton-Schulz steps (Jordan et al. "
     "2024)"});

const Missing SHAMPOO(
    "optimizer shampoo",
    {"optimizer",
     {"shampoo", "distributedShampoo", "soap", "kfac", "galore", "galoreAdamw", "apollo"},
     "products with matrices of each parameter are part of its update, and its state follows from "
     "the shapes of parameters; adam has an update of each parameter by itself"});

const Missing ONE_STATE(
    "optimizer adagrad",
    {"optimizer",
     {"adagrad", "rmsprop", "signum"},
     "it has no formula here; momentum keeps and moves as much, one number for each parameter"});

} // namespace

} // namespace proteus
} // namespace ns3
