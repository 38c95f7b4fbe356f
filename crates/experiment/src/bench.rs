//! The benchmark fabrics as files, which `netloom bench` runs and performance claims refer to.

/// Name and text of every benchmark fabric.
pub const FABRICS: &[(&str, &str)] = &[
    ("ft64", include_str!("../bench/ft64.toml")),
    ("ft64-busy", include_str!("../bench/ft64-busy.toml")),
    ("iq64", include_str!("../bench/iq64.toml")),
    ("opa64", include_str!("../bench/opa64.toml")),
    ("bxi64", include_str!("../bench/bxi64.toml")),
    ("df72", include_str!("../bench/df72.toml")),
    ("ft2000", include_str!("../bench/ft2000.toml")),
    ("ft65536", include_str!("../bench/ft65536.toml")),
    ("ft262144", include_str!("../bench/ft262144.toml")),
    ("ft1048576", include_str!("../bench/ft1048576.toml")),
    ("torus512", include_str!("../bench/torus512.toml")),
];

/// Returns the text of a benchmark fabric.
pub fn bench_fabric(name: &str) -> Option<&'static str> {
    FABRICS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}
