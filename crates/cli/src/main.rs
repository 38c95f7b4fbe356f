//! The command `netloom`.

fn main() -> std::process::ExitCode {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    netloom_experiment::huge_pages::switch_off();
    netloom_cli::main(netloom_cli::Kinds::default())
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod allocator {
    #[global_allocator]
    static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

    /// Options of the allocator, which finds them by this name: ask for huge pages, and return
    /// freed memory to the system slowly (in an hour), because that splits huge pages. Blocks above
    /// 8 MB, such as tables, are returned at once.
    #[allow(unsafe_code, reason = "no other symbol of the program has this name")]
    #[unsafe(export_name = "_rjem_malloc_conf")]
    static OPTIONS: &u8 = &b"thp:always,dirty_decay_ms:3600000\0"[0];
}
