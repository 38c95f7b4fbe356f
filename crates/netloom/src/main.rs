//! The command `netloom`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
