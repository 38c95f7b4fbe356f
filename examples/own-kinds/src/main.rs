//! netloom with an additional routing and congestion control, with all commands and messages.

mod delay_window;
mod detour;

use std::process::ExitCode;

use netloom::catalog::kind;
use netloom::fabric::CongestionControl;
use netloom::routing::Routing;
use netloom_cli::Kinds;

fn main() -> ExitCode {
    let kinds = Kinds::default().with_routing(kind!(detour::Detour, dyn Routing));
    let control = kind!(delay_window::DelayWindow, dyn CongestionControl);
    netloom_cli::main(kinds.with_congestion_control(control))
}
