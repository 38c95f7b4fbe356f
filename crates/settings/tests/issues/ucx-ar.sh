#!/bin/sh
# openucx/ucx #5869 and NVIDIA/nccl-tests #199: adaptive routing without a level.
mpirun -x UCX_IB_AR_ENABLE=yes -x UCX_NET_DEVICES=mlx5_0:1 ./osu_alltoall
