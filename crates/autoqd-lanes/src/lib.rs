//! MuJoCo's physics for several worlds at a time, in SIMD lanes.
