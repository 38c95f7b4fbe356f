//! The command `netloom`.

fn main() -> std::process::ExitCode {
    netloom_cli::main()
}
