#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| jlfix_fuzz::oracle::merge(data));
