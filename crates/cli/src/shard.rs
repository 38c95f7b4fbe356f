//! Which part of a study a process does: `3/8`, or what the batch system says about this process.
//!
//! A study has units, numbered from 0; shard i of n owns every n-th of them from the (i-1)-th. So neighbours,
//! which cost about the same, go to different shards, and nobody has to talk to anybody.

use std::fmt;

/// The number of shards, for batch systems that tell a process its index but not how many there are, and
/// for arrays of which only some members are run again.
pub(super) const SHARDS: &str = "NETLOOM_SHARDS";

/// One of several equal parts of a study.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shard {
    /// Which part, from 1.
    pub(super) index: u32,
    /// How many parts there are.
    pub(super) of: u32,
}

/// What a batch system tells the members of an array, which it starts independently of each other.
struct Array {
    name: &'static str,
    id: &'static str,
    /// The id of the first member, where [`SHARDS`] says how many there are.
    from: u32,
    /// The smallest id; 1 where there is no such variable.
    first: Option<&'static str>,
    /// From one id to the next; 1 where there is no such variable.
    step: Option<&'static str>,
    members: Members,
}

/// How many members an array has.
enum Members {
    Count(&'static str),
    /// The largest id.
    Last(&'static str),
    /// Only the user knows: [`SHARDS`].
    Unknown,
}

/// The processes of one start, numbered from 0.
struct Ranks {
    name: &'static str,
    rank: &'static str,
    size: &'static str,
}

/// The first that is there counts. GNU parallel is last because what it sets leaks into the jobs that are
/// submitted under it.
const ARRAYS: &[Array] = &[
    Array {
        name: "a Slurm array",
        id: "SLURM_ARRAY_TASK_ID",
        from: 1,
        first: Some("SLURM_ARRAY_TASK_MIN"),
        step: Some("SLURM_ARRAY_TASK_STEP"),
        members: Members::Count("SLURM_ARRAY_TASK_COUNT"),
    },
    Array {
        name: "a PBS array",
        id: "PBS_ARRAY_INDEX",
        from: 1,
        first: None,
        step: None,
        members: Members::Unknown,
    },
    Array {
        name: "a Torque array",
        id: "PBS_ARRAYID",
        from: 1,
        first: None,
        step: None,
        members: Members::Unknown,
    },
    Array {
        name: "a Grid Engine array",
        id: "SGE_TASK_ID",
        from: 1,
        first: Some("SGE_TASK_FIRST"),
        step: Some("SGE_TASK_STEPSIZE"),
        members: Members::Last("SGE_TASK_LAST"),
    },
    Array {
        name: "an indexed Job of Kubernetes",
        id: "JOB_COMPLETION_INDEX",
        from: 0,
        first: None,
        step: None,
        members: Members::Unknown,
    },
    Array {
        name: "GNU parallel",
        id: "PARALLEL_SEQ",
        from: 1,
        first: None,
        step: None,
        members: Members::Unknown,
    },
];

/// The first that is there counts. `mpirun` under Slurm starts its daemons with srun, whose variables then
/// count daemons, so those of MPI come first. srun tells the size of a step in SLURM_STEP_NUM_TASKS;
/// SLURM_NTASKS is also there in a batch script, which runs once with rank 0.
const RANKS: &[Ranks] = &[
    Ranks {
        name: "Open MPI",
        rank: "OMPI_COMM_WORLD_RANK",
        size: "OMPI_COMM_WORLD_SIZE",
    },
    Ranks {
        name: "MPI through PMI",
        rank: "PMI_RANK",
        size: "PMI_SIZE",
    },
    Ranks {
        name: "srun",
        rank: "SLURM_PROCID",
        size: "SLURM_STEP_NUM_TASKS",
    },
];

/// The value of `--shard`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// `3/8`.
    This(Shard),
    /// `auto`: what the environment of this process says.
    Auto,
}

impl Part {
    pub(super) fn from_argument(text: &str) -> Result<Part, String> {
        match text {
            "auto" => Ok(Part::Auto),
            _ => Shard::parse(text).map(Part::This),
        }
    }

    /// Which shard it is. Where processes that were started together share every run, only an array tells.
    pub(super) fn shard(self, is_shared_by_ranks: bool) -> Result<Shard, String> {
        let lookup = |name: &str| std::env::var(name).ok();
        match (self, is_shared_by_ranks) {
            (Part::This(shard), _) => Ok(shard),
            (Part::Auto, true) => Shard::of_array(lookup),
            (Part::Auto, false) => Shard::auto(lookup),
        }
        .map_err(|why| format!("--shard auto: {why}"))
    }
}

impl Shard {
    /// Reads `3/8`.
    pub(super) fn parse(text: &str) -> Result<Shard, String> {
        const FORM: &str =
            "write which part of how many, such as 3/8, or `auto` under a batch system";
        let (index, of) = text.split_once('/').ok_or(FORM)?;
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| FORM);
        let (index, of) = (number(index)?, number(of)?);
        if of == 0 {
            return Err("there must be at least one shard, such as 1/1".to_owned());
        }
        if index == 0 {
            return Err(format!("shards count from 1: the first is 1/{of}"));
        }
        if index > of {
            return Err(format!("there are {of} shards: the last is {of}/{of}"));
        }
        Ok(Shard { index, of })
    }

    /// The part of this process by what its batch system put into the environment: the member of an array,
    /// the rank among processes started together, or both, where each member starts several processes.
    pub(super) fn auto(lookup: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
        let lookup = |name: &str| said(&lookup, name);
        let array = member(&lookup)?;
        let rank = RANKS
            .iter()
            .find(|ranks| {
                [ranks.rank, ranks.size]
                    .iter()
                    .all(|name| lookup(name).is_some())
            })
            .map(|ranks| ranks.shard(&lookup))
            .transpose()?;
        match (array, rank) {
            (Some(array), Some(rank)) => array.divided(rank),
            (Some(shard), None) | (None, Some(shard)) => Ok(shard),
            (None, None) => {
                let ranks = RANKS.iter().map(|ranks| ranks.size);
                Err(nothing_found(ranks))
            }
        }
    }

    /// The part of a member of an array, all of whose processes share it.
    pub(super) fn of_array(lookup: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
        let array = member(&|name: &str| said(&lookup, name))?;
        array.ok_or_else(|| nothing_found([]))
    }

    /// Whether a unit of the study, counted from 0, is this shard's to do.
    pub(super) fn owns(self, unit: usize) -> bool {
        unit % self.of as usize == self.index as usize - 1
    }

    /// The part of a part.
    fn divided(self, by: Shard) -> Result<Shard, String> {
        let of = self.of.checked_mul(by.of);
        let of = of.ok_or_else(|| format!("{} times {} are too many shards", self.of, by.of))?;
        Ok(Shard {
            index: (self.index - 1) * by.of + by.index,
            of,
        })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl Array {
    fn shard(&self, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Shard, String> {
        let Array { name, id, .. } = self;
        let value = number(lookup, id)?;
        // Whoever says how many shards there are numbers them from 1; so members 3 and 7 of an array, run
        // again alone, do what they did before.
        if lookup(SHARDS).is_some() {
            let of = number(lookup, SHARDS)?;
            let from = self.from;
            let at = value.checked_sub(from).filter(|at| *at < of);
            let at = at.ok_or_else(|| {
                let last = (of + from).saturating_sub(1);
                format!(
                    "{id} is {value} in {name}; with {SHARDS}={of} its members are {from} to {last}"
                )
            })?;
            return Ok(Shard { index: at + 1, of });
        }
        let maybe = |name: Option<&str>| name.map_or(Ok(1), |name| number(lookup, name));
        let (first, step) = (maybe(self.first)?, maybe(self.step)?.max(1));
        let of = match self.members {
            Members::Count(count) => number(lookup, count)?,
            Members::Last(last) => number(lookup, last)?.saturating_sub(first) / step + 1,
            Members::Unknown => {
                let from = self.from;
                return Err(format!(
                    "{name} does not say how many members it has; number them from {from} and set {SHARDS} to how \
                     many there are"
                ));
            }
        };
        let at = value
            .checked_sub(first)
            .map(|beyond| (beyond / step, beyond % step));
        match at {
            Some((at, 0)) if at < of => Ok(Shard { index: at + 1, of }),
            _ => Err(format!(
                "{id} is {value}, but {name} of {of} from {first} in steps of {step} has no such member; number \
                 them from 1 and set {SHARDS} to how many shards there are in all"
            )),
        }
    }
}

impl Ranks {
    fn shard(&self, lookup: &dyn Fn(&str) -> Option<String>) -> Result<Shard, String> {
        let Ranks { name, rank, size } = self;
        let (at, of) = (number(lookup, rank)?, number(lookup, size)?);
        if at < of {
            Ok(Shard { index: at + 1, of })
        } else {
            Err(format!(
                "{rank} is {at} under {name}, but {size} is {of}: ranks count from 0"
            ))
        }
    }
}

fn number(lookup: &dyn Fn(&str) -> Option<String>, name: &str) -> Result<u32, String> {
    let value = lookup(name).ok_or_else(|| format!("{name} is not set"))?;
    let wrong = |_| format!("{name} is \"{value}\", which is no whole number");
    value.parse().map_err(wrong)
}

/// The shard of the array that this process belongs to, if to any.
fn member(lookup: &dyn Fn(&str) -> Option<String>) -> Result<Option<Shard>, String> {
    let array = ARRAYS.iter().find(|array| lookup(array.id).is_some());
    array.map(|array| array.shard(lookup)).transpose()
}

/// What the environment says, if anything. Grid Engine says "undefined" where there is no array.
fn said(lookup: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    lookup(name)
        .map(|value| value.trim().to_owned())
        .filter(|value| !value.is_empty() && value != "undefined")
}

/// `ranks` are the variables of processes started together, where those count.
fn nothing_found(ranks: impl IntoIterator<Item = &'static str>) -> String {
    let arrays = ARRAYS.iter().map(|array| array.id);
    let names: Vec<&str> = arrays.chain(ranks).collect();
    format!(
        "no batch system says which part this process is; looked for {}. Write the part, such as --shard 3/8",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The shard, or the message, in an environment written as `NAME=value NAME=value`.
    fn auto(environment: &str) -> String {
        let lookup = |name: &str| {
            let mut pairs = environment
                .split_whitespace()
                .filter_map(|pair| pair.split_once('='));
            pairs
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.to_owned())
        };
        Shard::auto(lookup).map_or_else(|message| message, |shard| shard.to_string())
    }

    #[test]
    fn a_part_is_written_as_index_and_number() {
        let given = Part::This(Shard { index: 3, of: 8 });
        assert_eq!(Part::from_argument("3/8"), Ok(given));
        assert_eq!(Shard::parse("1/1"), Ok(Shard { index: 1, of: 1 }));
        let wrong = |text| Shard::parse(text).unwrap_err();
        insta::assert_snapshot!(
            ["0/8", "9/8", "1/0", "3", "a/b", "3/8/9", "-1/8"]
                .map(|text| format!("{text:<6} {}", wrong(text)))
                .join("\n"),
            @r#"
            0/8    shards count from 1: the first is 1/8
            9/8    there are 8 shards: the last is 8/8
            1/0    there must be at least one shard, such as 1/1
            3      write which part of how many, such as 3/8, or `auto` under a batch system
            a/b    write which part of how many, such as 3/8, or `auto` under a batch system
            3/8/9  write which part of how many, such as 3/8, or `auto` under a batch system
            -1/8   write which part of how many, such as 3/8, or `auto` under a batch system
            "#
        );
    }

    #[test]
    fn every_batch_system_is_understood() {
        let slurm = "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_STEP=1";
        let from_zero = "SLURM_ARRAY_TASK_ID=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=5 SLURM_ARRAY_TASK_STEP=4";
        let sge = "SGE_TASK_ID=7 SGE_TASK_FIRST=3 SGE_TASK_LAST=10 SGE_TASK_STEPSIZE=2";
        let batch = "SLURM_PROCID=0 SLURM_NTASKS=4";
        let mpirun =
            "SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=6";
        for (environment, shard) in [
            (slurm, "3/8"),
            (from_zero, "3/5"),
            // A batch script of several tasks runs once: its rank means nothing.
            (&format!("{slurm} {batch}"), "3/8"),
            (
                "SLURM_PROCID=2 SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=4",
                "3/4",
            ),
            (
                "SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_STEP_NUM_TASKS=1",
                "1/1",
            ),
            (
                &format!("{slurm} SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4"),
                "10/32",
            ),
            // Two members of eight, run again.
            (
                "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_COUNT=2 NETLOOM_SHARDS=8",
                "7/8",
            ),
            ("PBS_ARRAY_INDEX=2 NETLOOM_SHARDS=5", "2/5"),
            ("PBS_ARRAYID=5 NETLOOM_SHARDS=5", "5/5"),
            ("JOB_COMPLETION_INDEX=0 NETLOOM_SHARDS=5", "1/5"),
            ("JOB_COMPLETION_INDEX=4 NETLOOM_SHARDS=5", "5/5"),
            (sge, "3/4"),
            (
                "SGE_TASK_ID=undefined OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=3",
                "1/3",
            ),
            (mpirun, "6/6"),
            ("PMI_RANK=1 PMI_SIZE=2", "2/2"),
            ("PARALLEL_SEQ=4 NETLOOM_SHARDS=9", "4/9"),
            (&format!("{slurm} PARALLEL_SEQ=9"), "3/8"),
        ] {
            assert_eq!(auto(environment), shard, "{environment}");
        }
    }

    #[test]
    fn ranks_that_share_a_run_do_not_divide_an_array() {
        let environment = [
            ("SLURM_ARRAY_TASK_ID", "3"),
            ("NETLOOM_SHARDS", "8"),
            ("OMPI_COMM_WORLD_RANK", "1"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
        ];
        let lookup = |name: &str| {
            let found = environment.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(Shard::of_array(lookup), Ok(Shard { index: 3, of: 8 }));
        assert_eq!(Shard::auto(lookup), Ok(Shard { index: 10, of: 32 }));
        let alone = Shard::of_array(|name| lookup(name).filter(|_| name.starts_with("OMPI")));
        insta::assert_snapshot!(alone.unwrap_err(), @"no batch system says which part this process is; looked for SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, PBS_ARRAYID, SGE_TASK_ID, JOB_COMPLETION_INDEX, PARALLEL_SEQ. Write the part, such as --shard 3/8");
    }

    #[test]
    fn what_cannot_be_understood_is_said() {
        insta::assert_snapshot!(
            [
                "",
                "SLURM_PROCID=0 SLURM_NTASKS=4",
                "PBS_ARRAY_INDEX=2",
                "PARALLEL_SEQ=4",
                "JOB_COMPLETION_INDEX=0",
                "JOB_COMPLETION_INDEX=5 NETLOOM_SHARDS=5",
                "PBS_ARRAYID=0 NETLOOM_SHARDS=5",
                "PBS_ARRAYID=1 NETLOOM_SHARDS=many",
                "SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_STEP=1",
                "SLURM_ARRAY_TASK_ID=9",
                "PMI_RANK=2 PMI_SIZE=2",
            ]
            .map(|environment| format!("{environment}\n  {}", auto(environment)))
            .join("\n"),
            @r#"

              no batch system says which part this process is; looked for SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, PBS_ARRAYID, SGE_TASK_ID, JOB_COMPLETION_INDEX, PARALLEL_SEQ, OMPI_COMM_WORLD_SIZE, PMI_SIZE, SLURM_STEP_NUM_TASKS. Write the part, such as --shard 3/8
            SLURM_PROCID=0 SLURM_NTASKS=4
              no batch system says which part this process is; looked for SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, PBS_ARRAYID, SGE_TASK_ID, JOB_COMPLETION_INDEX, PARALLEL_SEQ, OMPI_COMM_WORLD_SIZE, PMI_SIZE, SLURM_STEP_NUM_TASKS. Write the part, such as --shard 3/8
            PBS_ARRAY_INDEX=2
              a PBS array does not say how many members it has; number them from 1 and set NETLOOM_SHARDS to how many there are
            PARALLEL_SEQ=4
              GNU parallel does not say how many members it has; number them from 1 and set NETLOOM_SHARDS to how many there are
            JOB_COMPLETION_INDEX=0
              an indexed Job of Kubernetes does not say how many members it has; number them from 0 and set NETLOOM_SHARDS to how many there are
            JOB_COMPLETION_INDEX=5 NETLOOM_SHARDS=5
              JOB_COMPLETION_INDEX is 5 in an indexed Job of Kubernetes; with NETLOOM_SHARDS=5 its members are 0 to 4
            PBS_ARRAYID=0 NETLOOM_SHARDS=5
              PBS_ARRAYID is 0 in a Torque array; with NETLOOM_SHARDS=5 its members are 1 to 5
            PBS_ARRAYID=1 NETLOOM_SHARDS=many
              NETLOOM_SHARDS is "many", which is no whole number
            SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_STEP=1
              SLURM_ARRAY_TASK_ID is 9, but a Slurm array of 3 from 2 in steps of 1 has no such member; number them from 1 and set NETLOOM_SHARDS to how many shards there are in all
            SLURM_ARRAY_TASK_ID=9
              SLURM_ARRAY_TASK_MIN is not set
            PMI_RANK=2 PMI_SIZE=2
              PMI_RANK is 2 under MPI through PMI, but PMI_SIZE is 2: ranks count from 0
            "#
        );
    }

    proptest! {
        /// Every unit is done by exactly one shard.
        #[test]
        fn shards_share_out_all_units(of in 1u32..40, unit in 0usize..10_000) {
            let owners = (1..=of).filter(|&index| Shard { index, of }.owns(unit)).count();
            prop_assert_eq!(owners, 1);
        }

        /// An array whose members start several processes each covers every part once.
        #[test]
        fn members_and_ranks_together_cover_all_parts(members in 1u32..20, ranks in 1u32..20) {
            let mut parts: Vec<u32> = (1..=members)
                .flat_map(|member| (0..ranks).map(move |rank| (member, rank)))
                .map(|(member, rank)| {
                    let text = auto(&format!(
                        "PBS_ARRAYID={member} NETLOOM_SHARDS={members} PMI_RANK={rank} PMI_SIZE={ranks}"
                    ));
                    let shard = Shard::parse(&text).unwrap();
                    assert_eq!(shard.of, members * ranks);
                    shard.index
                })
                .collect();
            parts.sort_unstable();
            prop_assert_eq!(parts, (1..=members * ranks).collect::<Vec<u32>>());
        }
    }
}
