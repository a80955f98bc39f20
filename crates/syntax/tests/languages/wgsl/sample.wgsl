struct Light {
    position: vec3f,
};

@group(0) @binding(0) var<uniform> light: Light;
const limit = 64;

// Weighs a light.
fn weigh(at: vec3f) -> f32 {
    return length(light.position - at);
}

@fragment
fn fs_main(@location(0) uv: vec2f) -> @location(0) vec4f {
    return vec4f(weigh(vec3f(uv, 0.0)));
}
