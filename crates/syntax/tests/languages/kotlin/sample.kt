@file:JvmName("Routes")

package harbor.routes

import kotlinx.coroutines.flow.Flow
import harbor.geo.Point as GeoPoint

/** Metres in a nautical mile. */
const val NAUTICAL_MILE = 1852.0

private val log = Logger.of("routes")
val planner: Planner by lazy { Planner(log) }

// Shorter to write.
typealias Visitor = (Leg) -> Unit

/**
 * One part of a route.
 */
@Serializable
@SerialName("leg")
data class Leg(
    val from: GeoPoint,
    private val to: GeoPoint,
    speed: Double = 5.0,
) : Edge<GeoPoint>(from), Comparable<Leg> {

    constructor(line: List<GeoPoint>) : this(line.first(), line.last()) {
        check(line.size > 1)
    }

    init {
        require(speed > 0)
    }

    /** Length in metres. */
    val length: Double
        get() = from.distanceTo(to)

    var note: String? = null
        private set

    var label: String
        get() = note ?: "leg"
        set(value) {
            note = value.trim()
        }

    // Hours at the given speed.
    fun duration(speed: Double = DEFAULT_SPEED): Double = length / NAUTICAL_MILE / speed

    override operator fun compareTo(other: Leg): Int {
        return length.compareTo(other.length)
    }

    companion object {
        const val DEFAULT_SPEED = 5.0

        /** Parses `a -> b`. */
        @JvmStatic
        fun parse(text: String): Leg {
            val (from, to) = text.split("->").map { GeoPoint.parse(it.trim()) }
            return Leg(from, to)
        }
    }

    inner class Cursor
}

sealed interface Planned : Named, Sized<Leg> {
    val legs: List<Leg>
    suspend fun <R> walk(visit: (Leg) -> R, vararg filters: Filter): List<R> where R : Any
}

enum class Wind(val degrees: Int) {
    /** From the north. */
    NORTH(0),
    EAST(90) {
        override fun opposite() = WEST
    },
    WEST(270);

    open fun opposite(): Wind = NORTH
}

object Harbours : Registry<Harbour>() {
    private val known = mutableMapOf<String, Harbour>()

    @Synchronized
    fun find(name: String): Harbour? {
        for (key in known.keys) {
            if (key.startsWith(name)) return known[key]
        }
        fun miss(why: String) = log.warn(why)
        return null.also { miss("no $name") }
    }
}

fun interface Filter {
    fun accepts(leg: Leg): Boolean
}

/** All legs, the longest first. */
fun <T : Planned> Flow<T>?.longest(limit: Int = 3): List<Leg> =
    this?.let { flow -> flow.toList().flatMap { it.legs }.sortedDescending().take(limit) }.orEmpty()

val List<Leg>.total: Double get() = sumOf { it.length }

val Leg.isShort: Boolean
    get() = length < NAUTICAL_MILE

value class Knots(val value: Double)

val slowest = fun(legs: List<Leg>): Leg { return legs.minBy { it.length } }

internal expect fun now(): Long

class Gauge { companion object { const val STEPS = 10 } }
sealed interface Level { data class High(val by: Int) : Level; fun isHigh() = true }

val (lowest, highest) = bounds()
