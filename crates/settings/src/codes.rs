//! The codes of findings about environments, and of what cannot be exported.

/// Every code with its title and its long text.
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "E1200",
        "no settings of communication libraries",
        "`site lint env` found no variable that a library of its table has. The file may be \
         another one, or its processes set nothing: then every library uses its default, which is \
         service level 0 except for DeepEP V2. Name libraries that variables do not show with \
         --library.",
    ),
    (
        "E1201",
        "a setting is overridden",
        "Another variable of the same process wins, so this one has no effect. The environment of \
         NCCL wins over the level that a program asks for: NCCL_IB_SL overrides \
         EP_OVERRIDE_RDMA_SL and the default of DeepEP V2 silently (NVIDIA/nccl #2138). Unset the \
         variable that wins, or set both to the same number.",
    ),
    (
        "E1202",
        "a traffic class becomes a service level",
        "On InfiniBand, GPU-initiated puts of NCCL (GIN, GDAKI back end), which DeepEP V2 uses, \
         take NCCL_GIN_IB_TC or NCCL_IB_TC as their service level unless NCCL_IB_SL is set. A \
         number made for RoCE, such as 106, is not a service level. Unset it on InfiniBand.",
    ),
    (
        "E1203",
        "initialisation fails",
        "The library does not start with this setting on this kind of link. \
         NVSHMEM_IB_TRAFFIC_CLASS on InfiniBand makes the firmware refuse the queue pairs of IBGDA \
         (NVIDIA/nvshmem #45). Unset it; NVSHMEM_IB_SL selects the lane.",
    ),
    (
        "E1204",
        "a setting has no effect on this link",
        "The library reads the variable only on the other kind of link. NCCL_IB_FIFO_TC gives \
         clear-to-send messages a DSCP on RoCE. On InfiniBand they keep the service level of the \
         data, and no setting splits them (NVIDIA/nccl #1194).",
    ),
    (
        "E1205",
        "a traffic class without a service level",
        "On InfiniBand the service level selects the lane. A traffic class is a byte of the global \
         route header, or is not sent at all, so the traffic stays on the default level \
         (kvcache-ai/Mooncake #2515). Set the service level of the library as well.",
    ),
    (
        "E1206",
        "a service level that no class of the plan has",
        "The plan gives no share to this level. Its packets use the lane that the SL-to-VL map \
         gives, next to the class of that lane, and take part of that class's share. DeepEP V2 \
         asks for level 3 if nothing is set, which is the fourth class of a plan.",
    ),
    (
        "E1207",
        "a traffic class whose priority has no PFC",
        "RoCE packets with this DSCP are not protected from drops. Lost packets are sent again \
         until the retries run out, and the queue pair then fails (NVIDIA/nccl #2383: only \
         GPU-initiated puts had DSCP 0, since a global class in sysfs does not apply to DevX queue \
         pairs). Set the DSCP of a lossless class.",
    ),
    (
        "E1208",
        "a DSCP that no class of the plan has",
        "Switches put packets with this DSCP into the queue of unclassified packets, which may be \
         lossy and has no planned share. Set `dscp` of the class, or the traffic class of the \
         library: 4 times the DSCP, plus 2 for senders that react to ECN marks.",
    ),
    (
        "E1209",
        "a value that the library cannot use",
        "The value is not a number in the range of the setting. Libraries ignore such values with \
         a warning in the log, or use their default without one.",
    ),
    (
        "E1210",
        "set on both ends",
        "Each end of a connection sets what it sends. READ data and acknowledgements leave with \
         the setting of the responder (openucx/ucx #10325: the traffic class applied in one \
         direction only). Set the same value on both ends. This is a remark, since one file shows \
         one end.",
    ),
    (
        "E1211",
        "adaptive routing selects the service level",
        "UCX_IB_AR_ENABLE selects the first service level with (yes, try) or without (no) adaptive \
         routing if UCX_IB_SL is unset or auto. That level changes when the subnet manager changes \
         its mask. Set UCX_IB_SL to the level of the class, and check that the mask contains it.",
    ),
    (
        "E1212",
        "the version does not have this setting",
        "The version that --library states is older than the setting, so it ignores the variable \
         silently. Update the library, or remove the variable so that nothing suggests that it \
         works.",
    ),
    (
        "E1213",
        "the version is not known",
        "The table of settings was checked in other versions of the library. netloom does not \
         guess what this one does. Read the release notes, or look at the counters: perfquery -X \
         shows the data per service level.",
    ),
    (
        "E1214",
        "a library is in another class than the plan says",
        "`carries` of the plan names the class of the library, and the environment puts its \
         packets into another one. `netloom site export env` prints the lines for the plan.",
    ),
    (
        "E1220",
        "two classes need one setting",
        "A variable has one value per process, so two classes of one process cannot both set it. \
         Run them as separate processes and name these in `carries`, as in \"ucx@prefill\" and \
         \"ucx@decode\". NCCL has a finer key per communicator (config.trafficClass), DeepEP V2 \
         per buffer (sl_idx), and Mooncake TENT per pool (qp_pools); `site export env` uses these \
         where they suffice.",
    ),
    (
        "E1221",
        "a class without DSCP",
        "On RoCE the DSCP of a packet selects its class. Set `dscp` of the [[plan.class]]; 8 times \
         the priority is the usual choice, and 26 that of many sites. A class without `carries` \
         needs none.",
    ),
    (
        "W1222",
        "a class with carries has service level 0",
        "Programs that set nothing use service level 0: other jobs, tools, and libraries without a \
         setting. They share the lane of this class, so its share and deadline do not hold. Leave \
         level 0 to a class named `other`, and give this class another `sl`.",
    ),
];
