#include "common.hlsli"
#define LIMIT 64

cbuffer Scene : register(b0) {
    float4x4 view;
};

Texture2D image : register(t0);

struct Vertex {
    float3 at : POSITION;
};

// Places a vertex.
float4 place(Vertex v) : SV_Position {
    return mul(float4(v.at, 1), view);
}
