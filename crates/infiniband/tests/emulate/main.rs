//! Real programs of InfiniBand at an emulated subnet.
//!
//! They need the Debian packages opensm, infiniband-diags and libumad2sim0; without them the tests fail and say so, unless
//! `NETLOOM_WITHOUT_INFINIBAND_TOOLS` is set.
#![cfg(target_os = "linux")]

mod clients;
mod discovery;
mod faults_of_opensm;
mod readback;
mod speed;
mod subnets;
mod tools;
