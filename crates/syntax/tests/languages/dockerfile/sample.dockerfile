# syntax=docker/dockerfile:1

ARG RUST_VERSION=1.81
ARG DISTRO

# Compiles the release programs.
FROM rust:${RUST_VERSION}-slim AS build
WORKDIR /src
ENV CARGO_TERM_COLOR=never \
    CARGO_NET_RETRY=5
COPY Cargo.toml Cargo.lock ./
COPY crates ./crates
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    cargo build --release \
    && strip target/release/relayd

# Runs the tests; not shipped.
FROM build AS test
RUN cargo test --workspace

FROM --platform=linux/amd64 debian:bookworm-slim
LABEL org.opencontainers.image.title="relay"
# Not as root.
RUN useradd --system relay
COPY --from=build /src/target/release/relayd /usr/local/bin/
USER relay
EXPOSE 8443
HEALTHCHECK CMD relayd --check
ENTRYPOINT ["relayd"]
CMD ["--config", "/etc/relay.toml"]
