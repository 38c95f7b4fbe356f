//! The command `netloom`.

fn main() -> std::process::ExitCode {
    netloom_cli::main(netloom_cli::Kinds::default())
}
