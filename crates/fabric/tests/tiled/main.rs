//! Fabrics of tiled switches with stashing, and their endpoints.

mod adversarial;
mod compare;
mod determinism;
mod laws;
mod support;
mod twin;
mod twin_alone;
mod twin_equality;
