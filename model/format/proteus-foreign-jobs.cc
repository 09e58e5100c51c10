/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/proteus-foreign-files.h"

/**
 * @file
 * @ingroup proteus
 * Configurations of frameworks and launchers that say how a job is split. They are not read: much
 * of what decides (the model, how many devices there are, defaults) stands elsewhere. Their keys
 * are those of DeepSpeed (docs/_pages/config-json.md), torchtitan (torchtitan/config),
 * Megatron-LM (megatron/training/arguments.py), NeMo, Modalities, Accelerate (accelerate config)
 * and Hugging Face's TrainingArguments.
 */

namespace ns3
{
namespace proteus
{

namespace
{

using Registration = ForeignFileRegistry::Registration;

const Registration DEEPSPEED(
    "DeepSpeed",
    {{"zero_optimization",
      "train_batch_size",
      "train_micro_batch_size_per_gpu",
      "gradient_accumulation_steps",
      "gradient_clipping",
      "bf16",
      "fp16",
      "wall_clock_breakdown",
      "steps_per_print",
      "prescale_gradients",
      "autotuning",
      "compression_training",
      "data_efficiency"},
     2,
     "a configuration of DeepSpeed; what it says belongs into --strategy, e.g. "
     "dp=8,zero=3,microBatch=4,globalBatch=64,dataType=bf16 (zero is zero_optimization.stage, "
     "microBatch train_micro_batch_size_per_gpu, globalBatch train_batch_size, or that times "
     "gradient_accumulation_steps and dp), with --framework=deepspeed",
     "",
     0,
     {},
     false,
     {"optimizer", "scheduler"}});

const Registration DEEPSPEED_ZERO(
    "DeepSpeed of one key",
    {{"zero_optimization"},
     1,
     "a configuration of DeepSpeed; its zero_optimization.stage is --strategy=...,zero=STAGE, with "
     "--framework=deepspeed"});

// What stands beside a config.json on the Hugging Face hub: PEFT (src/peft/config.py) and
// transformers (generation/configuration_utils.py, tokenization_utils_base.py, trainer_callback.py,
// modeling_utils.py).
const Registration PEFT("adapter_config.json",
                        {{"peft_type"},
                         1,
                         "an adapter_config.json of PEFT, which is not read: give the config.json "
                         "of its base_model_name_or_path; its r is --variables=adapterRank=R, "
                         "where the model has adapters"});

const Registration GENERATION(
    "generation_config.json",
    {{"do_sample", "temperature", "top_p", "top_k", "repetition_penalty", "_from_model_config"},
     1,
     "a generation_config.json of Hugging Face, which says how text is made; --model reads the "
     "config.json beside it"});

const Registration TOKENIZER(
    "tokenizer_config.json",
    {{"added_tokens_decoder",
      "tokenizer_class",
      "model_max_length",
      "clean_up_tokenization_spaces"},
     2,
     "a tokenizer_config.json of Hugging Face; --model reads the config.json beside it"});

const Registration WEIGHT_INDEX("index of weights",
                                {{"weight_map", "metadata"},
                                 2,
                                 "an index of files of weights of Hugging Face; --model reads the "
                                 "config.json beside it"});

const Registration TRAINER_STATE(
    "trainer_state.json",
    {{"log_history", "global_step", "best_metric", "num_train_epochs"},
     2,
     "a trainer_state.json of Hugging Face's Trainer, which tells what has been trained; --model "
     "reads the config.json of the model"});

// tutorials and tests of Modalities.
const Registration MODALITIES(
    "Modalities",
    {{"component_key",
      "variant_key",
      "instance_key",
      "pass_type",
      "cuda_env",
      "referencing_keys",
      "step_profile",
      "local_train_micro_batch_size"},
     3,
     "a configuration of Modalities; what it says belongs into --strategy, e.g. "
     "tp=2,pp=2,dp=4,zero=3,microBatch=1,globalBatch=8 (tp is tensor_parallel_degree, pp "
     "pipeline_parallel_degree, dp the data_parallel degrees multiplied, microBatch "
     "local_train_micro_batch_size), with --framework=fsdp2; the model and sequence_length are "
     "--model and --variables=sequence=N"});

const Registration TORCHTITAN(
    "torchtitan",
    {{"data_parallel_replicate_degree",
      "data_parallel_shard_degree",
      "tensor_parallel_degree",
      "pipeline_parallel_degree",
      "context_parallel_degree",
      "expert_parallel_degree",
      "local_batch_size",
      "dump_folder",
      "job.config_file",
      "activation_checkpoint"},
     2,
     "a configuration of torchtitan; what it says belongs into --strategy, e.g. "
     "tp=2,pp=2,dp=4,zero=3,microBatch=1,globalBatch=8 (tp is tensor_parallel_degree, pp "
     "pipeline_parallel_degree, cp context_parallel_degree, dp the data_parallel degrees "
     "multiplied, with zero=3 where shards are more than one, microBatch local_batch_size, "
     "recompute=full its mode of checkpoints, recomputeEvery=N a selective_ac_option of N, and "
     "recompute=between-products,recomputeKeeps=q+v+gate+down+attention its op, of a model with "
     "--variables=separate=1), with --framework=torchtitan; model and seq_len are --model and "
     "--variables=sequence=N"});

const Registration MEGATRON(
    "Megatron-LM",
    {{"--tensor-model-parallel-size",
      "--pipeline-model-parallel-size",
      "--context-parallel-size",
      "--expert-model-parallel-size",
      "--micro-batch-size",
      "--global-batch-size",
      "--use-distributed-optimizer",
      "--num-layers",
      "--hidden-size",
      "--sequence-parallel",
      "--recompute-granularity"},
     1,
     "a script with arguments of Megatron-LM; those of parallelism belong into --strategy, e.g. "
     "tp=8,pp=4,dp=2,microBatch=1,globalBatch=64,sequenceParallel=true,zero=1 (tp is "
     "--tensor-model-parallel-size, pp --pipeline-model-parallel-size, cp "
     "--context-parallel-size, ep --expert-model-parallel-size, zero=1 "
     "--use-distributed-optimizer, recompute=full or selective --recompute-granularity, "
     "recomputeModules --recompute-modules, joined by +, optimizer=muon --optimizer muon), with "
     "--framework=megatron-core; sizes of the model are --model and --variables"});

const Registration MEGATRON_YAML(
    "NeMo",
    {{"tensor_model_parallel_size",
      "pipeline_model_parallel_size",
      "virtual_pipeline_model_parallel_size",
      "context_parallel_size",
      "expert_model_parallel_size",
      "micro_batch_size",
      "global_batch_size",
      "num_nodes",
      "sequence_parallel"},
     3,
     "a configuration of NeMo or Megatron-Core; what it says belongs into --strategy, e.g. "
     "tp=8,pp=4,dp=2,microBatch=1,globalBatch=64,sequenceParallel=true,zero=1 (tp is "
     "tensor_model_parallel_size, pp pipeline_model_parallel_size, microBatch micro_batch_size, "
     "globalBatch global_batch_size), with --framework=nemo or megatron-core"});

const Registration ACCELERATE(
    "Accelerate",
    {{"compute_environment",
      "distributed_type",
      "deepspeed_config",
      "fsdp_config",
      "megatron_lm_config",
      "mixed_precision",
      "num_machines",
      "num_processes",
      "machine_rank"},
     2,
     "a configuration of Hugging Face Accelerate; what it says belongs into --strategy, e.g. "
     "dp=16,zero=3,dataType=bf16 (dp is num_processes, zero=3 FULL_SHARD or zero_stage 3, zero=2 "
     "SHARD_GRAD_OP, dataType mixed_precision), with --framework=fsdp1, fsdp2 or deepspeed"});

const Registration TRAINING_ARGUMENTS(
    "TrainingArguments",
    {{"per_device_train_batch_size",
      "gradient_accumulation_steps",
      "gradient_checkpointing",
      "fsdp",
      "fsdp_config",
      "deepspeed",
      "output_dir",
      "learning_rate"},
     2,
     "a list of arguments of Hugging Face's Trainer; what they say belongs into --strategy, e.g. "
     "dp=8,zero=3,microBatch=2,globalBatch=64,recompute=full (microBatch is "
     "per_device_train_batch_size, globalBatch that times gradient_accumulation_steps and dp, "
     "zero=3 full_shard, recompute=full gradient_checkpointing, optimizer=adam-foreach, "
     "adam-fused, adafactor or adam8bit optim adamw_torch, adamw_torch_fused, adafactor or "
     "adamw_bnb_8bit), with --framework=fsdp1, fsdp2, ddp or deepspeed"});

} // namespace

} // namespace proteus
} // namespace ns3
