//! Random configurations.
