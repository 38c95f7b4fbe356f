//! Real InfiniBand programs on an emulated subnet.
//!
//! They need the Debian packages opensm, infiniband-diags and libumad2sim0. Without them the tests
//! fail, unless `NETLOOM_WITHOUT_INFINIBAND_TOOLS` is set.
#![cfg(target_os = "linux")]

mod clients;
mod discovery;
mod faults_of_opensm;
mod readback;
mod speed;
mod subnets;
mod tools;
