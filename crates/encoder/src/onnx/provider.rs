//! Execution providers of ONNX Runtime: those that were compiled in, then the CPU.

use ort::ep::ExecutionProviderDispatch;
use ort::session::Session;
use ort::session::builder::SessionBuilder;

use super::library::Library;

/// The provider of every build.
pub(crate) const CPU: &str = "CPU";

/// Compiled providers in order of preference; the features `cuda`, `coreml` and `directml` add theirs.
pub(crate) fn compiled() -> Vec<(&'static str, Option<ExecutionProviderDispatch>)> {
    vec![
        #[cfg(feature = "cuda")]
        ("CUDA", Some(ort::ep::CUDA::default().build().error_on_failure())),
        #[cfg(feature = "coreml")]
        ("CoreML", Some(ort::ep::CoreML::default().build().error_on_failure())),
        #[cfg(feature = "directml")]
        ("DirectML", Some(ort::ep::DirectML::default().build().error_on_failure())),
        (CPU, None),
    ]
}

/// Opens a session with the first provider that accepts the model, and returns its name.
pub(crate) fn first(
    library: &Library,
    commit: impl Fn(SessionBuilder) -> ort::Result<Session>,
) -> ort::Result<(Session, &'static str)> {
    let mut result = Err(ort::Error::new("no execution provider"));
    for (name, provider) in compiled() {
        result = session(library, provider, &commit).map(|session| (session, name));
        if result.is_ok() {
            break;
        }
    }
    result
}

/// Opens a session with the provider of that name.
pub(crate) fn named(
    library: &Library,
    name: &str,
    commit: impl Fn(SessionBuilder) -> ort::Result<Session>,
) -> ort::Result<Session> {
    let provider = compiled().into_iter().find(|(known, _)| *known == name).and_then(|(_, provider)| provider);
    session(library, provider, &commit)
}

fn session(
    library: &Library,
    provider: Option<ExecutionProviderDispatch>,
    commit: &impl Fn(SessionBuilder) -> ort::Result<Session>,
) -> ort::Result<Session> {
    let builder = Session::builder(&library.environment)?;
    let builder = match provider {
        Some(provider) => builder.with_execution_providers([provider])?,
        None => builder,
    };
    commit(builder)
}
