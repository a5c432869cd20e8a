#![no_main]

#[path = "../../tests/attack/bodies.rs"]
#[allow(dead_code)]
mod bodies;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bodies::policy_shape(bytes));
