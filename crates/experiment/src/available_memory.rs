//! The memory that this machine still has for a run.

/// Returns the bytes of memory that this process may still allocate: what the machine has free, or
/// less if control groups or the limits of the process leave less. Returns `None` if the system
/// does not report it.
pub fn available_memory() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let free = read("/proc/meminfo").and_then(|text| kibibytes(&text, "MemAvailable:"));
    let used = read("/proc/self/status").and_then(|text| kibibytes(&text, "VmSize:"));
    let own = read("/proc/self/limits").and_then(|text| address_limit(&text));
    let own = own.map(|limit| limit.saturating_sub(used.unwrap_or(0)));
    let groups = read("/proc/self/cgroup").unwrap_or_default();
    let groups = groups.lines().flat_map(group_folders);
    let groups =
        groups.filter_map(|folder| left_in_group(&|file| read(&format!("{folder}/{file}"))));
    free.into_iter().chain(own).chain(groups).min()
}

/// Parses a line of `/proc` such as `MemAvailable:   123 kB`, and returns bytes.
fn kibibytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

/// Returns the limit on the address space (`ulimit -v`), if any.
fn address_limit(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns the folders of the control groups of a line of `/proc/self/cgroup`: the group and its
/// ancestors, of version 2 (`0::/a/b`) or of the memory controller of version 1 (`5:memory:/a/b`).
fn group_folders(line: &str) -> Vec<String> {
    let mut parts = line.splitn(3, ':');
    let (_, Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
        return vec![];
    };
    let root = match controllers {
        "" => "/sys/fs/cgroup",
        list if list.split(',').any(|name| name == "memory") => "/sys/fs/cgroup/memory",
        _ => return vec![],
    };
    let mut folders = vec![root.to_owned()];
    let mut folder = root.to_owned();
    for name in path.split('/').filter(|name| !name.is_empty()) {
        folder = format!("{folder}/{name}");
        folders.push(folder.clone());
    }
    folders
}

/// Returns the bytes that a control group leaves: its limit minus its use, not counting inactive
/// file cache.
fn left_in_group(file: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let number = |name: &str| file(name)?.trim().parse::<u64>().ok();
    let limit = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    let used = number("memory.current").or_else(|| number("memory.usage_in_bytes"))?;
    let stat = file("memory.stat").unwrap_or_default();
    let inactive = |key: &str| {
        let line = stat.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().parse::<u64>().ok()
    };
    let cached = inactive("total_inactive_file ").or_else(|| inactive("inactive_file "));
    Some(limit.saturating_sub(used.saturating_sub(cached.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_the_system_writes_them() {
        let meminfo = "MemTotal:  100 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(kibibytes(meminfo, "MemAvailable:"), Some(2 << 20));
        let limits =
            |value: &str| format!("Max address space         {value}   unlimited   bytes\n");
        assert_eq!(address_limit(&limits("4096")), Some(4096));
        assert_eq!(address_limit(&limits("unlimited")), None);
    }

    #[test]
    fn control_groups_of_both_versions_leave_what_they_leave() {
        let two = ["/sys/fs/cgroup", "/sys/fs/cgroup/a", "/sys/fs/cgroup/a/b"];
        assert_eq!(group_folders("0::/a/b"), two);
        assert_eq!(
            group_folders("5:cpu,memory:/job"),
            ["/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory/job"]
        );
        assert_eq!(group_folders("4:freezer:/job"), [""; 0]);
        let group = |files: &'static [(&'static str, &'static str)]| {
            left_in_group(&|name| {
                let found = files.iter().find(|(own, _)| *own == name);
                found.map(|(_, text)| (*text).to_owned())
            })
        };
        let second = group(&[
            ("memory.max", "1000\n"),
            ("memory.current", "700\n"),
            ("memory.stat", "anon 300\ninactive_file 400\n"),
        ]);
        assert_eq!(second, Some(700));
        let first = group(&[
            ("memory.limit_in_bytes", "1000\n"),
            ("memory.usage_in_bytes", "1200\n"),
        ]);
        assert_eq!(first, Some(0));
        let without = group(&[("memory.max", "max\n"), ("memory.current", "700\n")]);
        assert_eq!(without, None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_says_what_it_has() {
        assert!(available_memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
