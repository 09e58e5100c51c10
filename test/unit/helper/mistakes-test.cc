/*
 * Copyright (c) 2026 The proteus authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "start-program.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace ns3::proteus;

namespace
{

const std::string FILE_OF_CLUSTER = WORKLOADS + "/clusters/2-x-dgx-a100.json";

const std::vector<Mistake> MISTAKES{
    // Whole numbers.
    {"gpt3", {"--globalBatch=1e3"}, "must be a whole number: write --globalBatch=1000"},
    {"gpt3", {"--globalBatch=16K"}, "must be a whole number: write --globalBatch=16384"},
    {"gpt3", {"--globalBatch=1.5"}, "must be a whole number"},
    {"gpt3", {"--globalBatch="}, "--globalBatch needs a value: --globalBatch=N"},
    {"gpt3", {"--globalBatch"}, "--globalBatch needs a value: --globalBatch=N"},
    {"gpt3", {"--globalBatch=ten"}, "must be a whole number"},
    {"gpt3", {"--globalBatch=0x10"}, "must be a whole number"},
    {"gpt3", {"--globalBatch=99999999999999999999"}, "is too large"},
    {"gpt3", {"--globalBatch=0"}, "must be a number from 1"},
    {"gpt3", {"--globalBatch=-8"}, "must be a number from 1"},
    {"gpt3", {"--nodes=4x"}, "--nodes=4x: must be a whole number"},
    {"gpt3", {"--nodes=4 "}, "must be a whole number"},
    {"gpt3", {"--nodes=four"}, "must be a whole number"},
    {"gpt3", {"--nodes=-1"}, "must be a number from 0"},
    {"gpt3", {"--nodes=1,2"}, "must be a whole number"},
    {"gpt3", {"--tp=8abc"}, "--tp=8abc: must be a whole number"},
    {"gpt3", {"--tp=8.0"}, "must be a whole number: write --tp=8"},
    {"gpt3", {"--pp=two"}, "must be a whole number"},
    {"gpt3", {"--pp=0"}, "must be a number from 1"},
    {"gpt3", {"--dp=1e1"}, "write --dp=10"},
    {"gpt3", {"--microBatch=1/2"}, "must be a whole number"},
    {"gpt3", {"--stream=2.9"}, "--stream=2.9: must be a whole number"},
    {"run", {"--stream=-1", MODEL, PLAN, "--quiet"}, "--stream"},
    {"run", {"--ranks=all"}, "must be a whole number"},
    {"run", {"--ranks=1K"}, "write --ranks=1024"},
    {"collective", {"--gpus=8G"}, "must be a whole number"},
    {"collective", {"--channels=many"}, "must be a whole number"},
    {"collective", {"--channels=65"}, "must be a number from 0 to 64"},
    {"collective", {"--iterations=1e2"}, "write --iterations=100"},
    {"collective", {"--root=first"}, "must be a whole number"},
    {"collective", {"--root=9", "--collective=broadcast"}, "must be a rank, 0 to 7"},
    {"collective", {"--root=1"}, "has no root"},
    {"flows", {"--stream=1.0"}, "write --stream=1"},
    {"flows", {"--stream=0", "--cluster=dgx-a100", "--flows=f"}, "f"},
    {"flows", {"--payload=1000B"}, "must be a whole number"},
    {"flows", {"--overhead=some"}, "must be a whole number"},
    {"calibrate", {"--rounds=3.5"}, "must be a whole number"},
    {"calibrate", {"--rounds=-1", "--algorithm=none"}, "--rounds=-1: must be a number from 0"},
    {"evaluate",
     {"--calibrations=/dev/null/x", "--executor=flow"},
     "--calibrations=/dev/null/x: no folder can be made of that name"},
    {"fabrics", {"--nodes=four"}, "must be a whole number"},
    {"evaluate", {"--stream=x"}, "must be a whole number"},
    {"gpt3", {"--serversPerLeaf=1.5"}, "must be a whole number"},
    {"gpt3", {"--serversPerLeaf=0"}, "must be a number from 1"},
    // Sizes.
    {"collective", {"--min=8Q"}, "must be a size such as 8, 512K, 64M or 1G"},
    {"collective", {"--min=1000T"}, "--min=1000T: is more than 1e15 bytes"},
    {"cluster",
     {"--cluster=dgx-a100", "--nodes=65536"},
     "single-switch: joins at most 65535 NICs, and there are 524288"},
    {"gpt3", {"--config=no-such.json"}, "error: --config=no-such.json: cannot be read"},
    {"collective", {"--min=1e3"}, "must be a size"},
    {"collective", {"--min=-1"}, "must be a size"},
    {"collective", {"--min=0"}, "must be a size"},
    {"collective", {"--min=M"}, "must be a size"},
    {"collective", {"--max=1.0001K"}, "no whole number of bytes"},
    {"collective", {"--max=1PB"}, "must be a size"},
    {"collective", {"--min=2M", "--max=1M"}, "--min=2M: must not be above --max=1M\n"},
    {"validate", {"--min=abc"}, "must be a size"},
    {"validate", {"--directory=/nowhere"}, "--directory=/nowhere: /nowhere/tables.csv: cannot be"},
    {"validate", {"--min=2G"}, "is below --min=2G"},
    {"calibrate", {"--sizes=64K,1X"}, "--sizes=1X: must be a size"},
    {"calibrate", {"--sizes=64K,64T"}, "do not fit into the memory of n0.gpu0"},
    {"collective", {"--min=1Mb"}, "must be a size"},
    {"calibrate", {"--sizes=65536", "--quick"}, "give one of them"},
    // Numbers, ratios and shares.
    {"gpt3", {"--oversubscription=2/1"}, "must be a number, a ratio such as 2:1"},
    {"gpt3", {"--oversubscription=2:0"}, "must be a number, a ratio such as 2:1"},
    {"gpt3", {"--oversubscription=:1"}, "must be a number, a ratio such as 2:1"},
    {"gpt3", {"--oversubscription=high"}, "must be a number, a ratio such as 2:1"},
    {"gpt3", {"--oversubscription=nan"}, "must be a number, a ratio such as 2:1"},
    {"gpt3", {"--oversubscription=inf"}, "must be a number, a ratio such as 2:1"},
    {"gpt3", {"--computeSlowdown=10%%"}, "per cent such as 10%"},
    {"gpt3", {"--computeSlowdown=-0.1", "--executor=flow"}, "must be a number from 0 to 1000"},
    {"gpt3", {"--computeSlowdown=1e30", "--executor=flow"}, "--computeSlowdown: must be a number"},
    {"gpt3", {"--dataType=foo"}, "--dataType=foo: there are bf16, fp16, fp8"},
    {"run", {"--dataType=foo"}, "--dataType=foo: there are fp32, tf32"},
    {"run",
     {"--communicationSchedule=foo", MODEL, PLAN, "--executor=flow"},
     "--communicationSchedule=foo: schedule: unknown policy"},
    {"gpt3", {"--computeSlowdown=10%"}, "belongs to the flow network"},
    {"gpt3", {"--communicationSlowdown=a lot"}, "per cent such as 10%"},
    {"collective", {"--factor=two"}, "must be a number"},
    {"collective", {"--factor=1"}, "--factor=1: must be above 1"},
    {"collective", {"--min=1G"}, "--min=1G: must not be above --max=128M, its default: give both"},
    {"collective", {"--factor=1.00001"}, "more than 10000 sizes from --min to --max"},
    {"collective", {"--max=900T"}, "do not fit into the memory of n0.gpu0 (A100-SXM4-80GB)"},
    {"collective", {"--pluginLatency=35GB"}, "must be a number"},
    {"collective", {"--pluginLatency=-1"}, "must be 0 to 1e6 microseconds"},
    // Times.
    {"gpt3", {"--launchInterval=5"}, "needs a unit, e.g. --launchInterval=5us"},
    {"gpt3", {"--launchInterval=5 us"}, "must be a time with its unit"},
    {"gpt3", {"--launchInterval=5usec"}, "must be a time with its unit"},
    {"gpt3", {"--launchInterval=us"}, "must be a time with its unit"},
    {"gpt3", {"--launchInterval=soon"}, "must be a time with its unit"},
    {"gpt3", {"--launchInterval=1.2.3us"}, "must be a time with its unit"},
    {"gpt3", {"--launchInterval=-5us"}, "must not be negative"},
    {"gpt3", {"--launchInterval="}, "--launchInterval needs a value"},
    {"run", {"--seriesInterval=10"}, "needs a unit"},
    {"run", {"--seriesInterval=fast"}, "must be a time with its unit"},
    {"compile", {"--launchInterval=7"}, "needs a unit"},
    {"fabrics", {"--launchInterval=1m"}, "must be a time with its unit"},
    {"gpt3",
     {"--executor=classic", "--iterations=3", "--crossIteration=tensor"},
     "executor classic starts what is ready"},
    {"gpt3", {"--computeTime=5"}, "needs a unit, e.g. --computeTime=5us"},
    {"gpt3", {"--computeTime=-5ms"}, "--computeTime=-5ms: must not be negative"},
    // Switches.
    {"gpt3", {"--quiet=yes"}, "is a switch: write --quiet, or --quiet=false"},
    {"gpt3", {"--quiet=2"}, "is a switch"},
    {"gpt3", {"--overlapGradientReduction=on"}, "is a switch"},
    {"compile", {"--expand=please"}, "is a switch"},
    {"calibrate", {"--quick=quick"}, "is a switch"},
    {"validate", {"--brief=no"}, "is a switch"},
    {"collective", {"--topology=full"}, "is a switch"},
    // Words that are no options.
    {"gpt3", {"125M"}, "'125M' is no option; options are --NAME=VALUE"},
    {"gpt3", {"--model", "125M"}, "write --model=125M"},
    {"gpt3", {"model=125M"}, "is no option"},
    {"gpt3", {"-model=125M"}, "options begin with two dashes: --model=125M"},
    {"gpt3", {"-q"}, "options begin with two dashes"},
    {"gpt3", {"-"}, "is no option"},
    {"gpt3", {""}, "is no option"},
    {"run", {"graph.json"}, "is no option"},
    {"collective", {"-b", "8"}, "-b: there is no such option: it is --min"},
    {"collective", {"-g=8"}, "-g=8: there is no such option: it is --gpus"},
    {"collective", {"-x", "8"}, "options begin with two dashes"},
    {"collective", {"--minbytes=8"}, "there is no such option: it is --min"},
    {"collective", {"--maxBytes=8M"}, "there is no such option: it is --max"},
    {"collective", {"--step-factor=2"}, "there is no such option: it is --factor"},
    {"flows", {"flows.csv"}, "is no option"},
    {"validate", {"a100"}, "is no option"},
    // Unknown options.
    {"gpt3", {"--node=4"}, "there is no such option; did you mean --nodes?"},
    {"gpt3", {"--Nodes=4"}, "did you mean --nodes?"},
    {"gpt3", {"--modle=125M"}, "did you mean --model?"},
    {"gpt3", {"--modell=125M"}, "did you mean --model?"},
    {"gpt3", {"--global-batch=8"}, "did you mean --globalBatch?"},
    {"gpt3", {"--global_batch=8"}, "did you mean --globalBatch?"},
    {"gpt3", {"--globalbatch=8"}, "did you mean --globalBatch?"},
    {"gpt3", {"--micro-batch=1"}, "did you mean --microBatch?"},
    {"gpt3", {"--cluster=dgx-a100:"}, "dgx-a100:"},
    {"gpt3", {"--sumary=x.json"}, "did you mean --summary?"},
    {"gpt3", {"--exector=flow"}, "did you mean --executor?"},
    {"gpt3", {"--executors=flow"}, "did you mean --executor?"},
    {"gpt3", {"--data-type=fp8"}, "did you mean --dataType?"},
    {"gpt3", {"--recomputation=full"}, "there is no such option"},
    {"gpt3", {"--quite"}, "did you mean --quiet?"},
    {"gpt3", {"--verbose"}, "there is no such option"},
    {"gpt3", {"--hlep"}, "did you mean --help?"},
    {"gpt3", {"--PrintAttribute=ns3::Node"}, "did you mean --PrintAttributes?"},
    {"gpt3", {"--"}, "there is no such option"},
    {"gpt3", {"--=3"}, "there is no such option"},
    {"run", {"--startegy=tp=8"}, "did you mean --strategy?"},
    {"run", {"--time-line=x"}, "did you mean --timeline?"},
    {"run", {"--variable=layers=4"}, "did you mean --variables?"},
    {"run", {"--launch-interval=5us"}, "did you mean --launchInterval?"},
    {"collective", {"--size=8M"}, "it is --min and --max"},
    {"collective", {"--algo=ring"}, "did you mean --algorithm?"},
    {"collective", {"--al=ring"}, "there is no such option; --help lists all"},
    {"collective", {"\u2014gpus=4"}, "options begin with two dashes: --gpus=4"},
    {"collective", {"--algoritm=ring"}, "did you mean --algorithm?"},
    {"collective", {"--collectives=all-reduce"}, "did you mean --collective?"},
    {"compile", {"--gpus=A100"}, "it is --gpu"},
    {"flows", {"--flow=x.csv"}, "did you mean --flows?"},
    {"flows", {"--congestion-control=hpcc"}, "did you mean --congestionControl?"},
    {"fabrics", {"--Fabrics=fat-tree"}, "did you mean --fabrics?"},
    {"evaluate", {"--calibration=x"}, "did you mean --calibrations?"},
    {"validate", {"--onyl=a100"}, "did you mean --only?"},
    {"calibrate", {"--saveCalibrations=x"}, "did you mean --saveCalibration?"},
    // Two outputs that are one, and values that later ones take the place of.
    {"gpt3", {"--nodes=1x", "--nodes=2"}, "--nodes=1x: must be a whole number"},
    {"gpt3", {"--csv=y.csv", "--report=x.csv", "--csv=x.csv"}, "would both write x.csv"},
    {"gpt3", {"--csv=x", "--summary=x"}, "--csv and --summary would both write x"},
    {"gpt3", {"--csv=x", "--summary=./x"}, "would both write"},
    {"gpt3", {"--csv=a/../x.csv", "--report=x.csv"}, "would both write"},
    {"run", {"--json=o", "--timeline=o"}, "would both write o"},
    {"gpt3",
     {"--recompute=foo"},
     "--recompute=foo: there are none, selective, between-products, full"},
    {"gpt3", {"--model=125M", "--saveGraph=g.txt"}, "--saveGraph=g.txt: the name of a graph file"},
    {"fabrics", {MODEL, PLAN, "--cluster=foo"}, "--cluster=foo: "},
    {"fabrics",
     {MODEL, PLAN, "--fabrics=fat-tree:0.5"},
     "--fabrics=fat-tree:0.5: fabric 'fat-tree"},
    {"cluster", {"--cluster=classic:foo"}, "--cluster=classic:foo: "},
    {"run", {MODEL, PLAN, "--executor=flow", "--nodes=100000"}, "--nodes"},
    {"run",
     {MODEL, PLAN, "--executor=flow", "--iterations=1000000000"},
     "--iterations=1000000000: "},
    {"collective", {"--csv=x.csv", "--measuredCsv=x.csv"}, "would both write"},
    {"fabrics", {"--csv=t", "--markdown=t"}, "would both write"},
    {"fabrics", {"--fabrics=fat-tree,"}, "--fabrics=fat-tree,: a part is empty"},
    {"fabrics", {"--fabrics=fat-tree,fat-tree"}, "fat-tree stands there twice"},
    {"fabrics", {"--fabrics=fat-tree+roce+infiniband"}, "says twice which technology it has"},
    {"fabrics", {"--fabrics=fat-tree+ecmp+spray"}, "says twice how it routes"},
    {"fabrics", {"--fabrics=single-rail+rails=2"}, "says twice how many rails it has"},
    {"validate", {"--only=a100,"}, "--only=a100,: a part is empty"},
    {"validate", {"--only=h100,h100"}, "--only=h100,h100: h100 stands there twice"},
    {"validate", {"--only=A100"}, "has that in its name; there are 2-x-b200-16-send-recv.csv, "},
    {"evaluate", {"--csv=t", "--json=t"}, "would both write"},
    {"compile", {"--saveGraph=g.json", "--kernels=g.json"}, "would both write"},
    // An output that is an input.
    {"flows",
     {"--flows=" + WORKLOADS + "/flows/incast-8.csv",
      "--csv=" + WORKLOADS + "/flows/../flows/incast-8.csv"},
     "would write over the file that --flows reads"},
    {"run",
     {MODEL,
      "--strategy=" + WORKLOADS + "/strategies/x.json",
      "--cluster=" + FILE_OF_CLUSTER,
      "--json=" + FILE_OF_CLUSTER},
     "would write over the file that --cluster reads"},
    // Names.
    {"gpt3", {"--model=126M"}, "did you mean 125M?"},
    {"gpt3", {"--model=llama"}, "there are 125M"},
    {"gpt3", {"--model=1.3"}, "did you mean 1.3B?"},
    {"run", {"--model=gpt3-126m", PLAN}, "did you mean gpt3-125m?"},
    {"run", {"--model=lama3-8b", PLAN}, "did you mean llama3-8b?"},
    {"run", {"--model=./nothing.json", PLAN}, "cannot be read: No such file"},
    {"run", {"--model=zzzzzzzzzz", PLAN}, "there are "},
    {"compile", {MODEL}, "--strategy"},
    {"run", {PLAN}, "belong to a model"},
    {"run", {}, "is missing"},
    {"run", {MODEL, PLAN, "--graph=" + WORKLOADS + "/graphs/ping.json"}, "give one of them"},
    {"run", {MODEL, "--strategy=tp:4"}, "tp:4"},
    {"run", {MODEL, "--strategy=pt=4"}, "pt"},
    {"run", {MODEL, PLAN, "--variables=layers"}, "is not NAME=VALUE, e.g. layers=4"},
    {"run", {MODEL, PLAN, "--variables=layers=4x"}, "is not NAME=NUMBER"},
    {"run",
     {MODEL, "--strategy=tp=2,dp=2,tp=4"},
     "--strategy=tp=2,dp=2,tp=4: tp stands there twice"},
    {"run", {MODEL, "--strategy=tp=02"}, "/tp: must be an integer from 1 to 1048576, not \"02\""},
    {"run", {MODEL, "--strategy=tp=2."}, "/tp: must be an integer from 1 to 1048576, not \"2.\""},
    {"run",
     {MODEL, PLAN, "--executor=flow,packet,flow"},
     "--executor=flow,packet,flow: flow stands there twice"},
    {"run",
     {MODEL, PLAN, "--communicationSchedule=p3,partBytes=4,partBytes=8"},
     "partBytes stands there twice"},
    {"search",
     {"--model=gpt3-125m", "--objective=speed"},
     "--objective=speed: there are time, throughput-per-GPU, cost"},
    {"search",
     {"--model=gpt3-125m", "--globalBatch=8", "--vary=recompute,recompute"},
     "--vary=recompute,recompute: recompute stands there twice"},
    {"search",
     {"--model=gpt3-125m", "--experts=a.json,a.json"},
     "--experts=a.json,a.json: a.json stands there twice"},
    {"search",
     {"--model=gpt3-125m", "--experts=a.json,./a.json"},
     "--experts=a.json,./a.json: ./a.json is the same file as a.json"},
    {"study",
     {"--study=" + WORKLOADS + "/studies/oversubscription.json", "--folder=a,b,a"},
     "--folder=a,b,a: a stands there twice"},
    {"study",
     {"--study=" + WORKLOADS + "/studies/oversubscription.json", "--folder=x", "--csv=x"},
     "--folder and --csv would both write x"},
    {"study",
     {"--study=" + WORKLOADS + "/studies/oversubscription.json", "--folder=x,y", "--html=x/0.json"},
     "--folder=x would write "},
    {"run", {MODEL, PLAN, "--variables=layers=4,layers=6"}, "layers stands there twice"},
    {"run", {MODEL, PLAN, "--variables=layers=100000"}, "the model has more than 200000 layers"},
    {"run", {MODEL, PLAN, "--variables=batch=4"}, "batch is not set here: it follows from"},
    {"compile",
     {MODEL, "--strategy=dp=2,microbatch=4"},
     "/microbatch: unknown field; did you mean"},
    {"run", {MODEL, "--strategy=dp=2,recompute=true"}, "/recompute: unknown recomputation 'true'"},
    {"run", {MODEL, R"(--strategy={"dp": 8, "version": 2})"}, "/version: must be 1, not 2"},
    {"run",
     {"--traceCompute=measured", "--trace=x"},
     "--traceCompute=measured: there are recorded, roofline"},
    {"run",
     {"--traceCommunication=measured", "--trace=x"},
     "--traceCommunication=measured: there are simulated, recorded"},
    {"run", {MODEL, PLAN, "--report=x.pdf"}, "--report=x.pdf: is a page: the name must end in"},
    {"run", {MODEL, PLAN, "--executor=flow", "--pcap=x"}, "no executor of this run sends every"},
    {"run", {MODEL, PLAN, "--executor=ideal", "--linkSeries=x.csv"}, "add --executor=packet"},
    {"run", {MODEL, PLAN, "--RngSeed=0"}, "--RngSeed=0: must be above 0"},
    {"run", {"--SimulatorImplementationType=foo"}, "ns-3 has no type foo"},
    {"run", {"--SimulatorImplementationType=ns3::Node"}, "is no ns3::SimulatorImpl"},
    {"run", {"--SchedulerType=ns3::Node"}, "--SchedulerType=ns3::Node"},
    {"run", {"--ChecksumEnabled"}, "--ChecksumEnabled needs a value"},
    {"run", {FABRIC + "Pfc"}, "Fabric::Pfc needs a value: --ns3::proteus::Fabric::Pfc=VALUE"},
    {"gpt3", {"--cluster=dgx-a10"}, "did you mean dgx-a100?"},
    {"gpt3", {"--cluster=dgxh100x"}, "did you mean dgx-h100?"},
    {"gpt3", {"--cluster=nothing.json"}, "cannot be read: No such file"},
    {"collective", {"--cluster=dgx"}, "--cluster=dgx: "},
    {"collective", {"--collective=allreduc"}, "did you mean all-reduce?"},
    {"collective", {"--collective=sort"}, "--collective=sort: "},
    {"collective", {"--algorithm=treee"}, "did you mean tree?"},
    {"collective", {"--algorithm=quick"}, "--algorithm=quick: there are "},
    {"collective", {"--protocol=LL64"}, "LL64"},
    {"gpt3", {"--algorithm=treee"}, "did you mean tree?"},
    {"gpt3", {"--protocol=LL64"}, "LL64"},
    {"gpt3", {"--channels=4096"}, "must be a number from 0 to 64"},
    {"gpt3", {"--ncclVersion=new"}, "must be like 2.18"},
    {"run", {"--cpuVendor=cyrix", MODEL, PLAN, "--quiet"}, "there are intel, amd"},
    {"run", {"--netPlugin=pigeons", MODEL, PLAN, "--quiet"}, "there are efa, efa-1.16"},
    {"run", {MODEL, PLAN, "--globalBatch=16"}, "it is part of the strategy"},
    {"run", {MODEL, PLAN, "--fsdp=1"}, "it is part of the strategy, --strategy=...,zero=..."},
    {"collective", {"--ep=8"}, "strategies of jobs have it, proteus-run --strategy=...,ep=..."},
    {"collective", {"--hiddenSize=64"}, "proteus-run --variables=NAME=VALUE"},
    {"collective", {"--launchMode=threads"}, "--launchMode=threads: there are stream"},
    {"collective", {"--executor=classic"}, "--executor=classic: there are packet, flow, alpha-"},
    {"validate", {"--executor=flows"}, "--executor=flows: did you mean flow?"},
    {"collective", {"--grouping=pairs"}, "--grouping=pairs: there are stride, block"},
    {"gpt3", {"--executor=packets"}, "--executor=packets: did you mean packet?"},
    {"gpt3", {"--executor=flow;packet"}, "--executor=flow;packet: did you mean packet or flow?"},
    {"gpt3", {"--executor="}, "--executor needs a value"},
    {"gpt3", {"--executor=flow_calibrated"}, "needs --calibration=FILE"},
    {"gpt3", {"--htae=new"}, "--htae=new: there are flow, classic"},
    {"gpt3", {"--fabric=ring"}, "leaf-spine"},
    {"gpt3", {"--schedule=zb"}, "--schedule=zb: there are 1f1b, gpipe"},
    {"schedule",
     {"--model=vgg16", "--strategy=dp=8", "--credit=0"},
     "--credit=0: must be a number from 1"},
    {"schedule",
     {"--model=vgg16", "--strategy=dp=8", "--partition=0"},
     "--partition=0: must be a number from 1"},
    {"schedule",
     {"--model=vgg16", "--strategy=dp=8", "--policies=priorty"},
     "--policies=priorty: did you mean priority?"},
    {"schedule",
     {"--model=vgg16", "--strategy=dp=8", "--gradients=servers"},
     "--gradients=servers: there are all-reduce, parameter-server"},
    {"schedule",
     {"--model=vgg16", "--strategy=dp=8", "--servers=2"},
     "add --gradients=parameter-server"},
    {"schedule",
     {"--model=vgg16", "--strategy=dp=8", "--gradients=parameter-server", "--hostAggregation=cpu"},
     "--hostAggregation=cpu: did you mean gpu?"},
    {"schedule",
     {"--model=vgg16", "--strategy=dp=8", "--hostAggregation=gpu"},
     "an all-reduce has no servers; add --gradients=parameter-server"},
    {"schedule",
     {"--model=vgg16",
      "--strategy=dp=8",
      "--gradients=parameter-server",
      "--hostAggregation=gpu",
      "--serverRate=10"},
     "no CPU adds up on workers' hosts with --hostAggregation=gpu"},
    {"schedule",
     {"--model=vgg16",
      "--strategy=dp=8",
      "--gradients=parameter-server",
      "--executor=packet",
      "--priorityOn=wire"},
     "take --serverHosts=workers --hostAggregation=gpu"},
    {"schedule",
     {"--model=vgg16", "--strategy=dp=8", "--gradients=parameter-server", "--serverHosts=own"},
     "the servers have no host; say how many there are, e.g. --servers=2"},
    {"schedule",
     {"--model=vgg16",
      "--strategy=dp=8,dataType=fp32",
      "--nodes=1",
      "--cluster=titanxp-pcie",
      "--gradients=parameter-server",
      "--serverHosts=own",
      "--servers=1"},
     "take --nodes=2 or more"},
    {"schedule",
     {"--model=vgg16",
      "--strategy=dp=8,dataType=fp16",
      "--cluster=dgx1-v100",
      "--gradients=parameter-server",
      "--servers=5",
      "--policies=arrival"},
     "take no more servers, or --serverHosts=own"},
    {"schedule",
     {"--model=vgg16",
      "--strategy=dp=8",
      "--gradients=parameter-server",
      "--serverHosts=own",
      "--servers=1",
      "--staleness=soon"},
     "a number of iterations, 0 for synchronous, or async"},
    {"schedule",
     {"--model=vgg16", "--strategy=dp=8", "--priorityOn=air"},
     "--priorityOn=air: there are sender, wire, both"},
    {"schedule",
     {"--model=vgg16", "--strategy=dp=8", "--priorityOn=wire"},
     "take --executor=packet"},
    {"schedule", {"--model=vgg16", "--strategy=dp=8", "--saveSchedule=s.json"}, "add --tune"},
    {"schedule", {"--model=vgg16", "--strategy=dp=8", "--policies=p3,p3"}, "p3 stands there twice"},
    {"gpt3", {"--recompute=some", "--tp=4", "--model=125M"}, "some"},
    {"gpt3", {"--dataType=int8"}, "int8"},
    {"compile", {MODEL, PLAN, "--gpu=A1000"}, "A1000"},
    {"compile", {MODEL, PLAN, "--saveGraph=x.txt"}, "must end in .json, .pb or .dot"},
    {"compile", {MODEL, PLAN, "--expand", "--json=x.json"}, "--expand prints the strategy and"},
    {"cluster", {"--cluster=dgx-a100", "--svg=x.png"}, "--svg=x.png: the name must end in .svg"},
    {"study",
     {"--study=" + WORKLOADS + "/studies/rails.json", "--published=x.csv"},
     "has no published numbers"},
    {"flows", {"--transport=udp", "--cluster=dgx-a100"}, "--transport=udp: there are go-back-n"},
    {"flows", {"--window=64K"}, "must be a number of bytes, or bdp"},
    {"flows", {"--cluster=dgx-a100"}, "--flows=FILE is missing"},
    {"validate", {"--only=z9000"}, "no table of"},
    {"validate", {"--kernelCosts=none.json"}, "none.json"},
    {"collective", {"--kernelCosts=" + FILE_OF_CLUSTER}, "proteus-kernel-costs"},
    {"fabrics", {"--streams=3-1"}, "--streams: '3-1': the range 3-1 goes down"},
    {"run", {"--bundles=pipe", MODEL, PLAN, "--quiet"}, "--bundles=pipe: there are whole, cables"},
    {"run", {"--scenario=none.json", MODEL, PLAN, "--quiet"}, "none.json"},
    {"run", {"--cluster=dgx-h100:nic=x", MODEL, PLAN, "--quiet"}, "nic must be COUNTxRATEG"},
    {"evaluate", {"--only=nothing at all"}, "has that in its title"},
    // Plans that do not fit.
    {"gpt3", {"--model=125M", "--tp=8"}, "has 12 attention heads"},
    {"gpt3", {"--model=125M", "--tp=8"}, "try --tp=4"},
    {"gpt3", {"--model=125M", "--tp=4", "--pp=8", "--dp=2"}, "lower one of them, or raise --nodes"},
    {"run", {MODEL, "--strategy=dp=32"}, "add servers (--nodes), or use a smaller strategy"},
    {"gpt3", {"--model=175B", "--tp=8", "--nodes=1"}, "add --ignoreMemory to run it"},
    // Attributes and global values of ns-3.
    {"gpt3", {NETWORK + "Algorithm=treee"}, "Algorithm=treee: must be one of "},
    {"gpt3", {NETWORK + "Protocol=LL64"}, "PacketNetwork::Protocol: unknown protocol \"LL64\""},
    {"gpt3", {NETWORK + "CpuVendor=via"}, "PacketNetwork::CpuVendor: unknown vendor of a CPU"},
    {"gpt3", {NETWORK + "NetPlugin=tcp"}, "PacketNetwork::NetPlugin: unknown plug-in"},
    {"gpt3", {NETWORK + "NcclVariables=A=1"}, "PacketNetwork::NcclVariables: A: no variable"},
    {"gpt3",
     {NETWORK + "LaunchMode=threads"},
     "LaunchMode: unknown launch mode 'threads'; known are stream, process-per-gpu, one-process"},
    {"gpt3", {NETWORK + "Algoritm=tree"}, "has no attribute Algoritm; did you mean Algorithm?"},
    {"gpt3", {NETWORK + "Channels=4x"}, "must be a whole number"},
    {"gpt3", {NETWORK + "Channels=-4"}, "must not be negative"},
    {"gpt3", {NETWORK + "Channels=65"}, "is no value of this attribute"}, // as of --channels
    {"gpt3", {NETWORK + "NetworkChannels=65"}, "is no value of this attribute"},
    {"gpt3", {NETWORK + "LaunchOverhead=5"}, "needs a unit"},
    {"gpt3", {NETWORK + "LaunchOverhead=late"}, "must be a time with its unit"},
    {"gpt3", {NETWORK + "KernelCosts=maybe"}, "is a switch"},
    {"gpt3", {FABRIC + "Routing=Adaptiv"}, "did you mean Adaptive?"},
    {"gpt3", {FABRIC + "Routing=random"}, "there are Ecmp"},
    {"gpt3", {FABRIC + "Pfc=on"}, "is a switch"},
    {"gpt3", {FABRIC + "SwitchBuffer=16MB"}, "must be a whole number"},
    {"gpt3", {TRANSPORT + "CongestionControl=dcqnc"}, "dcqnc"},
    {"gpt3", {TRANSPORT + "PathRandom=ns3::Uniform"}, "ns-3 has no type ns3::Uniform"},
    {"gpt3", {TRANSPORT + "RetransmissionTimeout=1 second"}, "must be a time with its unit"},
    {"gpt3", {"--ns3::proteus::Fabrik::Routing=Ecmp"}, "did you mean ns3::proteus::Fabric?"},
    {"gpt3", {"--ns3::proteus::Nothing::At=1"}, "ns-3 has no type"},
    {"gpt3", {"--PrintAttributes=ns3::proteus::Fabrik"}, "did you mean ns3::proteus::Fabric?"},
    {"gpt3", {"--PrintAttributes"}, "ns-3 has no type"},
    {"gpt3", {"--RngRun=first"}, "must be a whole number"},
    {"gpt3", {"--SchedulerType=ns3::HeapSchedular"}, "did you mean ns3::HeapScheduler?"},
    // Files.
    {"gpt3", {"--config=nothing.json"}, "nothing.json"},
    {"gpt3", {"--config"}, "--config=FILE: give one file"},
    {"gpt3", {"--csv=/nowhere/x.csv"}, "/nowhere/x.csv"},
    {"gpt3", {"--calibration=nothing.json", "--executor=flow"}, "nothing.json"},
    // Names of earlier releases.
    {"gpt3", {"--trace=t.json"}, "--timeline=FILE writes the timeline"},
    {"gpt3", {"--graph=g.json"}, "--saveGraph=FILE saves one"},
    {"compile", {"--graph=g.json"}, "--saveGraph=FILE saves one"},
    {"compile", {"--memory=m.csv"}, "--memoryCsv=FILE writes it"},
    {"calibrate", {"--output=c.json"}, "it is --saveCalibration"},
    {"evaluate", {"--output=e.json"}, "it is --json"},
    {"validate", {"--tables=a100"}, "--only=PART,... chooses"},
    {"flows", {"--seed=2"}, "it is --stream"},
    {"gpt3", {"--completion=fish"}, "must be bash or zsh"},
    {"run", {"--graph=nothing.json"}, "nothing.json"},
    {"run", {"--trace=nothing"}, "nothing"},
    {"flows", {"--flows=nothing.csv", "--cluster=dgx-a100"}, "nothing.csv"},
    {"evaluate", {"--list=nothing.json"}, "nothing.json"},
    // Values are looked at whatever comes of them, and the option is said.
    {"flows", {"--flows=nothing.csv"}, "--flows=nothing.csv: cannot be read: No such file"},
    {"search", {"--prices=" + WORKLOADS}, "cannot be read: it is a directory"},
    {"cluster", {"--fabric= "}, "--fabric needs a value: --fabric=TEXT"},
    {"flows", {"--cluster=x.txt", "--fabric=ring"}, "--fabric=ring: there are single-switch"},
    {"cluster", {"--oversubscription=-1"}, "--oversubscription=-1: must be a ratio from 1"},
    {"cluster", {"--oversubscription=1e300"}, "must be a ratio from 1 to 1e6"},
    {"cluster", {"--serversPerLeaf=0"}, "--serversPerLeaf=0: must be a number from 1 to"},
    {"collective", {"--ncclVersion=new"}, "--ncclVersion=new: version of NCCL"},
    {"collective", {"--cpuVendor=i"}, "--cpuVendor=i: did you mean intel?"},
    {"collective", {"--nccl=NCCL_BUFSIZE=8M"}, "did you mean NCCL_BUFFSIZE?"},
    {"collective",
     {"--nccl=NCCL_MAX_NCHANNELS=4", "--channels=2"},
     "--channels and NCCL_MAX_NCHANNELS of --nccl are about the same"},
    {"run",
     {"--nccl=NCCL_ALGO=Tree", "--algorithm=ring", MODEL, PLAN, "--quiet"},
     "--algorithm and NCCL_ALGO of --nccl are about the same"},
    {"collective", {"--netPlugin=x"}, "--netPlugin=x: there are efa"},
    {"collective", {"--protocol=LL64"}, "--protocol=LL64: there are Simple, LL, LL128"},
    {"collective", {"--repetition=no"}, "--repetition=no: did you mean on?"},
    {"run", {"--joinWindow=-1us"}, "--joinWindow=-1us: must not be negative"},
    {"collective", {"--joinGrid=1e30s"}, "--joinGrid=1e30s: must be a time from 1ps to 1e6s"},
    {"collective", {NETWORK + "LaunchOverhead=1e30s"}, "must be a time from 1ps to 1e6s"},
    {"compile", {"--gpu=A101"}, "--gpu=A101: there is no data sheet"},
    {"compile", {"--launchInterval=1e30s"}, "must be a time from 1ps to 1e6s"},
    {"flows", {"--congestionControl=x"}, "--congestionControl=x: unknown congestion control"},
    {"schedule", {"--policies=fair,fifo"}, "--policies=fifo: there are arrival"},
    {"schedule", {"--messageUs=-1us"}, "--messageUs=-1us: must be 0 to 1e6 microseconds"},
    {"schedule", {"--crossIteration=x"}, "--crossIteration=x: there are barrier, tensor"},
    {"schedule", {"--wireClasses=9"}, "--wireClasses=9: must be a number from 1 to 7"},
    {"schedule", {"--method=best"}, "--method=best: there are bayesian, grid, random"},
    {"schedule",
     {"--model=alexnet", "--strategy=dp=2", "--partition=1"},
     "--partition=1: parts of 1 bytes: communications of up to"},
    {"schedule",
     {"--model=alexnet", "--strategy=dp=2", "--iterations=2147483647"},
     "--iterations=2147483647: 2147483647 iterations of"},
    {"run",
     {MODEL, PLAN, "--quiet", "--executor=flow", "--communicationSchedule=priority,partBytes=1"},
     "--communicationSchedule=priority,partBytes=1: parts of 1 bytes"},
    {"run", {"--seriesInterval=1ps"}, "--seriesInterval=1ps: must be a time from 1.000 ns to"},
    {"flows", {"--seriesInterval=0s"}, "--seriesInterval=0s: must be a time from 1.000 ns to"},
    {"compile",
     {"--launchInterval=2s"},
     "--launchInterval=2s: must be a time from 0 ps to 1.000 s"},
    {"run", {"--computeTime=11d"}, "--computeTime=11d: must be a time from 0 ps to"},
    {"run", {"--threads=-1", "--executor=flow"}, "--threads=-1: must be a number from 0 to 1024"},
    {"search", {MODEL, "--nodes=1", "--quiet"}, "--globalBatch=N is missing"},
    {"run", {MODEL, PLAN, "--cluster=dgxa10:nic=1x"}, "did you mean dgx-a100?"},
    {"search", {"--memory=-1"}, "--memory=-1: must be 0 to 1e6 GB"},
    {"search",
     {MODEL, "--nodes=1", "--quiet", "--globalBatch=7", "--vary=none", "--variables=layers=1"},
     "3 of replicas that cannot share the global batch evenly; add servers"},
    {"search",
     {MODEL, "--nodes=1", "--quiet", "--globalBatch=16", "--vary=none", "--memory=0.01"},
     "take a global batch (--globalBatch) that more replicas can share, or more --memory"},
    {"search", {"--mostTensor=-1"}, "--mostTensor=-1: must be a number from 0 to"},
    {"search", {"--mostContext=-1"}, "--mostContext=-1: must be a number from 0 to"},
    {"search", {"--mostMicroBatch=0"}, "--mostMicroBatch=0: must be a number from 1 to"},
    {"search", {"--dataType=fp7"}, "--dataType=fp7: did you mean fp8?"},
    {"evaluate", {"--calibrations=" + FILE_OF_CLUSTER}, "is a file, and no folder"},
};

} // namespace

TEST(Mistakes, AreAnsweredInOneLineWithAHint)
{
    ASSERT_GE(MISTAKES.size(), 200u);
    for (const Mistake& mistake : MISTAKES)
    {
        std::string command = "proteus-" + mistake.program;
        for (const std::string& argument : mistake.arguments)
        {
            command += " '" + argument + "'";
        }
        SCOPED_TRACE(command);
        const Outcome outcome = Start(mistake.program, mistake.arguments);
        EXPECT_EQ(outcome.code, 1);
        const std::string start = "proteus-" + mistake.program + ": error: ";
        EXPECT_EQ(outcome.error.rfind(start, 0), 0u) << outcome.error;
        EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
        EXPECT_NE(outcome.error.find(mistake.hint), std::string::npos) << outcome.error;
    }
}

TEST(Mistakes, QuestionsAreAnswered)
{
    for (const auto& [program, maker] : PROGRAMS)
    {
        SCOPED_TRACE(program);
        for (const std::string help : {"--help", "-h"})
        {
            const Outcome outcome = Start(program, {help});
            EXPECT_EQ(outcome.code, 0);
            EXPECT_EQ(outcome.error, "");
            EXPECT_NE(outcome.out.find("Usage: proteus-" + program), std::string::npos);
            EXPECT_NE(outcome.out.find("--quiet"), std::string::npos);
        }
        EXPECT_EQ(Start(program, {"--version"}).out.rfind("proteus ", 0), 0u);
        EXPECT_NE(Start(program, {"--models"}).out.find("gpt3-125m\n"), std::string::npos);
        EXPECT_NE(Start(program, {"--clusters"}).out.find("dgx-a100\n"), std::string::npos);
        EXPECT_NE(Start(program, {"--strategies"}).out.find("ddp-8.json\n"), std::string::npos);
        EXPECT_NE(Start(program, {"--algorithms"}).out.find("all-reduce: "), std::string::npos);
    }
}

TEST(Mistakes, WhatPeopleTypeIsUnderstood)
{
    for (const std::string name : {"allreduce", "all_reduce", "AllReduce", "all-reduce"})
    {
        const Outcome outcome = Start(
            "collective",
            {"--collective=" + name, "--cluster=DGX_A100", "--min=1M", "--max=1MiB", "--quiet"});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
    }
    const Outcome compiled =
        Start("compile", {"--model=GPT3_125M", "--strategy=tp=4,dp=2", "--gpu=A100-SXM4-80GB"});
    EXPECT_EQ(compiled.code, 0) << compiled.error;
    EXPECT_EQ(compiled.out.rfind("GPT-3 125M", 0), 0u);
}

TEST(Mistakes, ATopologyIsToldWhatItDoesNotSay)
{
    const std::string path = testing::TempDir() + "proteus-two-gpus.xml";
    std::ofstream(path)
        << R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD">
<pci busid="0001:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"><gpu dev="0" sm="80" rank="0"/></pci>
<pci busid="0002:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"><gpu dev="1" sm="80" rank="1"/></pci>
</cpu></system>)";
    const std::vector<std::string> size{"--nodes=1", "--min=64M", "--max=64M", "--quiet"};
    const auto run = [&](const std::string& said) {
        std::vector<std::string> words{"--cluster=" + path + said};
        words.insert(words.end(), size.begin(), size.end());
        return Start("collective", words);
    };
    const Outcome joined = run(":gpu=A100-SXM4-80GB,nvlink=nvswitch");
    const Outcome apart = run(":gpu=A100-SXM4-80GB,nvlink=none");
    EXPECT_EQ(joined.code, 0) << joined.error;
    EXPECT_EQ(apart.code, 0) << apart.error;
    EXPECT_NE(joined.out, apart.out);
    EXPECT_NE(run(":gpus=8").error.find("there can be gpu=MODEL"), std::string::npos);
    std::remove(path.c_str());
}

TEST(Mistakes, AConfigurationHoldsOptions)
{
    const std::string path = testing::TempDir() + "proteus-mistakes-config.json";
    std::ofstream(path) << R"({"model": "gpt3-125m", "strategy": {"tp": 4, "dp": 2}})";
    const Outcome both = Start("compile", {"--config=" + path});
    EXPECT_EQ(both.code, 0) << both.error;
    EXPECT_NE(both.out.find(" 8 devices"), std::string::npos) << both.out;
    const Outcome other = Start("compile", {"--config=" + path, "--strategy=tp=4,dp=1"});
    EXPECT_NE(other.out.find(" 4 devices"), std::string::npos) << other.out;
    std::ofstream(path) << R"({"modle": "gpt3-125m"})";
    const Outcome wrong = Start("compile", {"--config=" + path});
    EXPECT_EQ(wrong.code, 1);
    EXPECT_NE(wrong.error.find("--config=" + path +
                               ": /modle: --modle: there is no such option; "
                               "did you mean --model?"),
              std::string::npos)
        << wrong.error;
    for (const auto& [text, hint] :
         {std::pair{R"({"model": "gpt3-125m", "model": "gpt3-350m"})", "/model: appears twice"},
          std::pair{R"({"model": null})", "/model: is null"},
          std::pair{R"({"model": )", "syntax error"}})
    {
        std::ofstream(path) << text;
        const Outcome refused = Start("compile", {"--config=" + path});
        EXPECT_EQ(refused.code, 1) << text;
        EXPECT_NE(refused.error.find(hint), std::string::npos) << refused.error;
        EXPECT_EQ(refused.error.find('\n'), refused.error.size() - 1) << refused.error;
    }
    std::remove(path.c_str());
}

// One way for all options that take names.
TEST(Mistakes, NamesMayBeSpeltOtherwise)
{
    std::string one;
    std::string several;
    std::string open;
    OptionList command("test");
    command.AddValue("one", "", one);
    command.AddValue("several", "", several);
    command.AddValue("open", "", open);
    command.AddNames("one", {"all-reduce", "gather"});
    command.AddNames("several", {"flow", "alpha-beta"}, NameUse::LIST);
    command.AddNames("open", {"bdp"}, NameUse::OPEN);
    std::ostringstream out;
    EXPECT_TRUE(
        command.Parse({"test", "--one=All_Reduce", "--several=AlphaBeta,FLOW", "--open=BDP"}, out));
    EXPECT_EQ(one, "all-reduce");
    EXPECT_EQ(several, "alpha-beta,flow");
    EXPECT_EQ(open, "bdp");
    EXPECT_EQ(
        command.GetConfiguration(),
        (Configuration{{"one", "all-reduce"}, {"several", "alpha-beta,flow"}, {"open", "bdp"}}));
    EXPECT_EQ(command.GetMeaning("several", "Alpha-Beta,Flow"), "alpha-beta,flow");
    EXPECT_TRUE(command.Parse({"test", "--open=4096"}, out));
    EXPECT_EQ(open, "4096");
    EXPECT_THROW(command.Parse({"test", "--several=flow,,alpha-beta"}, out), std::invalid_argument);
    EXPECT_THROW(command.Parse({"test", "--several=flow,x"}, out), std::invalid_argument);
}
