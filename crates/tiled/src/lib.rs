//! Tiled high-radix switches with stashing, and endpoints that acknowledge, as one model of the event kernel.
