//! Compiles the C part, as crates do that bring a library in C.

use std::path::Path;
use std::process::Command;

fn run(program: &str, words: &[&str]) {
    let status = Command::new(program).args(words).status().expect(program);
    assert!(status.success(), "{program} failed");
}

fn main() {
    let folder = std::env::var("OUT_DIR").unwrap();
    let at = |name: &str| Path::new(&folder).join(name).to_str().unwrap().to_owned();
    let (object, library) = (at("first_free.o"), at("libfirst_free.a"));
    run("cc", &["-O2", "-c", "src/first_free.c", "-o", &object]);
    run("ar", &["crs", &library, &object]);
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-lib=static=first_free");
}
