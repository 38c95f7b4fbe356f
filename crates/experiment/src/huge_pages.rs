//! Huge pages of memory, for large fabrics only.
//!
//! The simulation of a large fabric waits for memory, and less so in huge pages. A small run would
//! only take more memory. So a program whose allocator asks for huge pages switches them off at its
//! start, and the runner switches them on before it builds a large fabric.
//!
//! Only Linux has this switch. Elsewhere nothing here has an effect.

use std::sync::atomic::{AtomicBool, Ordering};

/// Least number of NICs in this process for which huge pages are switched on.
const LARGE: usize = 10_000;

/// Whether [`switch_off`] switched huge pages off, and nothing has switched them on since.
static ARE_OFF: AtomicBool = AtomicBool::new(false);

/// Switches huge pages off for this process until it builds a large fabric. A process that does not
/// call this never changes the setting.
///
/// Has no effect where the system does not wait for requests (`always`, `never`), or where the
/// parent process has switched them off.
pub fn switch_off() {
    if system::are_on_request() && system::set_off(true) {
        ARE_OFF.store(true, Ordering::Relaxed);
    }
}

/// Switches huge pages on again if [`switch_off`] switched them off. To be called before another
/// program is started, because it would inherit the setting.
pub fn switch_on() {
    if ARE_OFF.swap(false, Ordering::Relaxed) {
        system::set_off(false);
    }
}

/// Switches huge pages on again if a fabric of `n_nics` divided among `ranks` processes is large.
/// They stay on: memory that the fabric leaves is used again.
pub(crate) fn switch_on_for(n_nics: u32, ranks: usize) {
    if n_nics as usize / ranks.max(1) >= LARGE {
        switch_on();
    }
}

#[cfg(target_os = "linux")]
mod system {
    /// Whether processes get huge pages where they ask for them, and this one may.
    pub(super) fn are_on_request() -> bool {
        let mode = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
        mode.is_ok_and(|mode| mode.contains("[madvise]"))
            && rustix::thread::transparent_huge_pages_are_disabled() == Ok(false)
    }

    /// Returns whether it worked.
    pub(super) fn set_off(are_off: bool) -> bool {
        rustix::thread::disable_transparent_huge_pages(are_off).is_ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn are_on_request() -> bool {
        false
    }

    pub(super) fn set_off(_: bool) -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use rustix::thread::transparent_huge_pages_are_disabled as are_off;

    /// One test, because the setting is that of the process.
    #[test]
    fn only_a_large_fabric_switches_huge_pages_on() {
        let before = are_off().unwrap();
        switch_on_for(1_000_000, 1);
        assert_eq!(are_off(), Ok(before), "never switched off, never changed");
        let is_switched = system::are_on_request();
        switch_off();
        assert_eq!(are_off(), Ok(before || is_switched));
        switch_on_for(9_999, 1);
        switch_on_for(65_536, 8);
        assert_eq!(are_off(), Ok(before || is_switched));
        switch_on_for(65_536, 4);
        assert_eq!(are_off(), Ok(before));
    }
}
