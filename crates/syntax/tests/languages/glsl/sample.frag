#version 330 core
#define LIMIT 64

in vec2 uv;
layout(location = 0) out vec4 color;
uniform sampler2D image;

struct Light {
    vec3 position;
};

// Weighs a light.
float weigh(Light light, vec3 at) {
    return length(light.position - at);
}

void main() {
    color = texture(image, uv) * fade(uv);
}
