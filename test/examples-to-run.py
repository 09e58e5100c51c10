#! /usr/bin/env python3

# A list of C++ examples to run in order to ensure that they remain
# buildable and runnable over time.  Each tuple in the list contains
#     (example_name, do_run, do_valgrind_run).
cpp_examples = [
    ("proteus-gpt3 --model=125M --nodes=1 --tp=4 --globalBatch=4 --quiet", "True", "False"),
    ("proteus-gpt3 --model=125M --tp=1 --pp=4 --globalBatch=16 --recompute=full"
     " --overlapGradientReduction --fabric=leaf-spine --serversPerLeaf=1 --quiet",
     "True", "False"),
    ("proteus-run --model=gpt3-125m --strategy=tp=2,pp=2,dp=2 --quiet",
     "True", "False"),
    ("proteus-compile --model=llama3-8b --strategy='{\"tp\": 8, \"pp\": 2, \"zero\": 1}'"
     " --gpu=H100-SXM5-80GB", "True", "False"),
    ("proteus-fabrics --model=gpt3-125m --strategy='{\"tp\":4,\"dp\":4,\"globalBatch\":4}'"
     " --cluster=dgx-a100 --nodes=2 --fabrics=rail-optimised,leaf-spine:4+roce --quiet",
     "True", "False"),
    ("proteus-schedule --model=vgg16 --strategy='{\"dp\": 16, \"microBatch\": 8, \"dataType\": \"fp32\"}'"
     " --cluster=pcie-v100x8 --policies=arrival,priority --tune --evaluations=3 --quiet",
     "True", "False"),
    ("proteus-search --model=gpt3-125m --nodes=1 --globalBatch=8 --flows=3 --packets=1 --quiet"
     " --vary=zero,sequence,layouts", "True", "False"),
    ("proteus-cluster --cluster=dgx-h100:nodes=8,nic=8x200G-roce,leafs=2", "True", "False"),
    ("proteus-collective --cluster=dgx-a100 --max=16M --factor=16 --quiet", "True", "False"),
    ("proteus-validate --only=v100-pcie --max=1M --brief --quiet", "True", "False"),
    ("proteus-bench --quick --only=switch", "True", "False"),
    ("proteus-unit-tests", "True", "False"),
]

# A list of Python examples: (example_name, do_run).
python_examples = []
