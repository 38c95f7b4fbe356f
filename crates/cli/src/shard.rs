//! The part of a study that a process runs: `3/8`, or the part that the batch system assigns.
//!
//! The units of a study are numbered from 0. Shard i of n owns every n-th unit, starting with unit
//! i-1. Neighbouring units cost about the same and go to different shards, and the shards need no
//! communication.

use std::fmt;

/// Variable with the number of shards, for batch systems that set the index of a process but not
/// the number of members, and for arrays of which only some members run again.
pub(super) const SHARDS: &str = "NETLOOM_SHARDS";

/// One of several equal parts of a study.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shard {
    /// Counts from 1.
    pub(super) index: u32,
    /// Number of parts.
    pub(super) of: u32,
}

/// The variables that a batch system sets for the members of an array, which start independently.
struct Array {
    name: &'static str,
    id: &'static str,
    /// The id of the first member if [`SHARDS`] is set.
    from: u32,
    /// Variable with the smallest id; `None` means 1.
    first: Option<&'static str>,
    /// Variable with the step between ids; `None` means 1.
    step: Option<&'static str>,
    members: Members,
}

/// The source of the number of members.
enum Members {
    Count(&'static str),
    /// Variable with the largest id.
    Last(&'static str),
    /// The user sets [`SHARDS`].
    Unknown,
}

/// The variables of processes that start together, numbered from 0.
struct Ranks {
    name: &'static str,
    rank: &'static str,
    size: &'static str,
}

/// The first one in the environment is used. GNU parallel is last because its variables leak into
/// jobs that are submitted under it.
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
        name: "an LSF array",
        id: "LSB_JOBINDEX",
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
        name: "an indexed Kubernetes Job",
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

/// The first one in the environment is used. Under Slurm, `mpirun` starts its daemons with srun,
/// whose variables then count daemons, so those of MPI come first. srun sets the size of a step in
/// SLURM_STEP_NUM_TASKS; SLURM_NTASKS is also set in a batch script, which runs once with rank 0.
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
    /// `auto`: taken from the environment of this process.
    Auto,
}

impl Part {
    pub(super) fn from_argument(text: &str) -> Result<Part, String> {
        match text {
            "auto" => Ok(Part::Auto),
            _ => Shard::parse(text).map(Part::This),
        }
    }

    /// Returns the shard. If processes that start together share every run, only arrays are
    /// considered.
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
    /// Parses `3/8`.
    pub(super) fn parse(text: &str) -> Result<Shard, String> {
        const FORM: &str = "expected INDEX/NUMBER, such as 3/8, or `auto` under a batch system";
        let (index, of) = text.split_once('/').ok_or(FORM)?;
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| FORM);
        let (index, of) = (number(index)?, number(of)?);
        if of == 0 {
            return Err("expected at least one shard, such as 1/1".to_owned());
        }
        if index == 0 {
            return Err(format!("shards count from 1: the first is 1/{of}"));
        }
        if index > of {
            return Err(format!("there are {of} shards: the last is {of}/{of}"));
        }
        Ok(Shard { index, of })
    }

    /// Returns the part that the batch system assigns to this process: the member of an array, the
    /// rank among processes that start together, or both if each member starts several processes.
    pub(super) fn auto(lookup: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
        let lookup = |name: &str| value_of(&lookup, name);
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

    /// Returns the part of a member of an array, which all its processes share.
    pub(super) fn of_array(lookup: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
        let array = member(&|name: &str| value_of(&lookup, name))?;
        array.ok_or_else(|| nothing_found([]))
    }

    /// Returns whether this shard owns a unit of the study, counted from 0.
    pub(super) fn owns(self, unit: usize) -> bool {
        unit % self.of as usize == self.index as usize - 1
    }

    /// Returns a part of this part.
    fn divided(self, by: Shard) -> Result<Shard, String> {
        let of = self.of.checked_mul(by.of);
        let of = of.ok_or_else(|| format!("{} times {} shards are too many", self.of, by.of))?;
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
        // If the user sets the number of shards, ids give the index directly. So members 3 and 7 of
        // an array that run again alone keep their parts.
        if lookup(SHARDS).is_some() {
            let of = number(lookup, SHARDS)?;
            let from = self.from;
            let at = value.checked_sub(from).filter(|at| *at < of);
            let at = at.ok_or_else(|| {
                let last = (of + from).saturating_sub(1);
                format!(
                    "{id} is {value} in {name}, but with {SHARDS}={of} its members are {from} to \
                     {last}"
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
                    "{name} does not report its number of members; number them from {from} and set \
                     {SHARDS} to their number"
                ));
            }
        };
        let at = value
            .checked_sub(first)
            .map(|beyond| (beyond / step, beyond % step));
        match at {
            Some((at, 0)) if at < of => Ok(Shard { index: at + 1, of }),
            _ => Err(format!(
                "{id} is {value}, but {name} of {of} from {first} in steps of {step} has no such \
                 member; number the members from 1 and set {SHARDS} to the total number of shards"
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
    let wrong = |_| format!("expected a whole number in {name}, found \"{value}\"");
    value.parse().map_err(wrong)
}

/// Returns the shard of this process in its array, if it belongs to one.
fn member(lookup: &dyn Fn(&str) -> Option<String>) -> Result<Option<Shard>, String> {
    let array = ARRAYS.iter().find(|array| lookup(array.id).is_some());
    array.map(|array| array.shard(lookup)).transpose()
}

/// Returns the value of a variable, if it has one. Outside of arrays, Grid Engine sets "undefined",
/// and LSF sets 0.
fn value_of(lookup: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    lookup(name)
        .map(|value| value.trim().to_owned())
        .filter(|value| !value.is_empty() && value != "undefined")
        .filter(|value| name != "LSB_JOBINDEX" || value != "0")
}

/// Returns the error if no variable is set. `ranks` are the variables of processes that start
/// together, if considered.
fn nothing_found(ranks: impl IntoIterator<Item = &'static str>) -> String {
    let arrays = ARRAYS.iter().map(|array| array.id);
    let names: Vec<&str> = arrays.chain(ranks).collect();
    format!(
        "no batch system found; looked for {}. Set the part, such as --shard 3/8",
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
            1/0    expected at least one shard, such as 1/1
            3      expected INDEX/NUMBER, such as 3/8, or `auto` under a batch system
            a/b    expected INDEX/NUMBER, such as 3/8, or `auto` under a batch system
            3/8/9  expected INDEX/NUMBER, such as 3/8, or `auto` under a batch system
            -1/8   expected INDEX/NUMBER, such as 3/8, or `auto` under a batch system
            "#
        );
    }

    #[test]
    fn every_batch_system_is_understood() {
        let slurm = "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=8 \
            SLURM_ARRAY_TASK_STEP=1";
        let from_zero = "SLURM_ARRAY_TASK_ID=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=5 \
            SLURM_ARRAY_TASK_STEP=4";
        let sge = "SGE_TASK_ID=7 SGE_TASK_FIRST=3 SGE_TASK_LAST=10 SGE_TASK_STEPSIZE=2";
        let batch = "SLURM_PROCID=0 SLURM_NTASKS=4";
        let mpirun =
            "SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=6";
        for (environment, shard) in [
            (slurm, "3/8"),
            (from_zero, "3/5"),
            // A batch script of several tasks runs once, so its rank is ignored.
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
                "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_COUNT=2 \
                 NETLOOM_SHARDS=8",
                "7/8",
            ),
            ("PBS_ARRAY_INDEX=2 NETLOOM_SHARDS=5", "2/5"),
            ("PBS_ARRAYID=5 NETLOOM_SHARDS=5", "5/5"),
            ("LSB_JOBINDEX=4 NETLOOM_SHARDS=5", "4/5"),
            ("LSB_JOBINDEX=0 PMI_RANK=1 PMI_SIZE=2", "2/2"),
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
        insta::assert_snapshot!(alone.unwrap_err(), @"no batch system found; looked for SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, PBS_ARRAYID, LSB_JOBINDEX, SGE_TASK_ID, JOB_COMPLETION_INDEX, PARALLEL_SEQ. Set the part, such as --shard 3/8");
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
                "SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_COUNT=3 \
                 SLURM_ARRAY_TASK_STEP=1",
                "SLURM_ARRAY_TASK_ID=9",
                "PMI_RANK=2 PMI_SIZE=2",
            ]
            .map(|environment| format!("{environment}\n  {}", auto(environment)))
            .join("\n"),
            @r#"

              no batch system found; looked for SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, PBS_ARRAYID, LSB_JOBINDEX, SGE_TASK_ID, JOB_COMPLETION_INDEX, PARALLEL_SEQ, OMPI_COMM_WORLD_SIZE, PMI_SIZE, SLURM_STEP_NUM_TASKS. Set the part, such as --shard 3/8
            SLURM_PROCID=0 SLURM_NTASKS=4
              no batch system found; looked for SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, PBS_ARRAYID, LSB_JOBINDEX, SGE_TASK_ID, JOB_COMPLETION_INDEX, PARALLEL_SEQ, OMPI_COMM_WORLD_SIZE, PMI_SIZE, SLURM_STEP_NUM_TASKS. Set the part, such as --shard 3/8
            PBS_ARRAY_INDEX=2
              a PBS array does not report its number of members; number them from 1 and set NETLOOM_SHARDS to their number
            PARALLEL_SEQ=4
              GNU parallel does not report its number of members; number them from 1 and set NETLOOM_SHARDS to their number
            JOB_COMPLETION_INDEX=0
              an indexed Kubernetes Job does not report its number of members; number them from 0 and set NETLOOM_SHARDS to their number
            JOB_COMPLETION_INDEX=5 NETLOOM_SHARDS=5
              JOB_COMPLETION_INDEX is 5 in an indexed Kubernetes Job, but with NETLOOM_SHARDS=5 its members are 0 to 4
            PBS_ARRAYID=0 NETLOOM_SHARDS=5
              PBS_ARRAYID is 0 in a Torque array, but with NETLOOM_SHARDS=5 its members are 1 to 5
            PBS_ARRAYID=1 NETLOOM_SHARDS=many
              expected a whole number in NETLOOM_SHARDS, found "many"
            SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_STEP=1
              SLURM_ARRAY_TASK_ID is 9, but a Slurm array of 3 from 2 in steps of 1 has no such member; number the members from 1 and set NETLOOM_SHARDS to the total number of shards
            SLURM_ARRAY_TASK_ID=9
              SLURM_ARRAY_TASK_MIN is not set
            PMI_RANK=2 PMI_SIZE=2
              PMI_RANK is 2 under MPI through PMI, but PMI_SIZE is 2: ranks count from 0
            "#
        );
    }

    proptest! {
        /// Exactly one shard owns each unit.
        #[test]
        fn shards_share_out_all_units(of in 1u32..40, unit in 0usize..10_000) {
            let owners = (1..=of).filter(|&index| Shard { index, of }.owns(unit)).count();
            prop_assert_eq!(owners, 1);
        }

        /// An array whose members start several processes covers every part once.
        #[test]
        fn members_and_ranks_together_cover_all_parts(members in 1u32..20, ranks in 1u32..20) {
            let mut parts: Vec<u32> = (1..=members)
                .flat_map(|member| (0..ranks).map(move |rank| (member, rank)))
                .map(|(member, rank)| {
                    let text = auto(&format!(
                        "PBS_ARRAYID={member} NETLOOM_SHARDS={members} PMI_RANK={rank} \
                         PMI_SIZE={ranks}"
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
