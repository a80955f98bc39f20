"""
    Orbits

Two-body orbits.
"""
module Orbits

using LinearAlgebra: norm, cross
import Base: show, +
include("constants.jl")

export Orbit, period

const GRAVITY = 6.674e-11
const UNITS, SCALE = "km", 1e3
default_step = 60.0

"Anything that moves around something."
abstract type Body <: Physical end

# A point mass.
struct Planet{T<:Real} <: Body
    mass::T
    radius::T
    name::String
end

"""
An orbit around a planet.
"""
Base.@kwdef mutable struct Orbit{T} <: AbstractOrbit
    center::Planet{T}
    semi_major::T = 7000.0
    Orbit{T}(c, a) where {T} = new(c, a)
end

primitive type Angle 64 end

@enum Shape circular elliptic hyperbolic

"""
    period(orbit; unit=:seconds)

Time of one turn.
"""
function period(orbit::Orbit{T}; unit::Symbol=:seconds)::T where {T<:Real}
    mu = GRAVITY * orbit.center.mass
    seconds = 2pi * sqrt(orbit.semi_major^3 / mu)
    return convert_unit(seconds, unit)
end

speed(o::Orbit, r) = sqrt(mu(o) * (2 / r - 1 / o.semi_major))

mu(o) = GRAVITY * o.center.mass

Base.show(io::IO, p::Planet) = print(io, "Planet ", p.name)

function Base.:+(a::Planet, b::Planet)
    Planet(a.mass + b.mass, max(a.radius, b.radius), a.name)
end

(o::Orbit)(t) = position(o, t)

# Runs a block with another step.
macro with_step(step, body)
    quote
        local old = default_step
        $(esc(body))
    end
end

@inline function clamp_angle(x::Float64)::Float64
    mod2pi(x)
end

const halve = x -> x / 2

function hook end

baremodule Internal
    helper(x) = x
end

@testset "periods" begin
    @test period(Orbit(earth, 7000.0)) ≈ 5829
end

end # module

const Pairs{T} = Vector{Tuple{T, T}}
Table{T} = Dict{String, T}

low, high = bounds()
(first, (second, third)) = rows()
