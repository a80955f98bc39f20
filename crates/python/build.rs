//! Lets macOS's linker leave Python's symbols to the interpreter that loads the module; other linkers do so anyway.

#[expect(clippy::disallowed_methods, reason = "Cargo tells the target by the environment")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_CFG_TARGET_OS").is_some_and(|os| os == "macos") {
        println!("cargo::rustc-cdylib-link-arg=-undefined");
        println!("cargo::rustc-cdylib-link-arg=dynamic_lookup");
    }
}
