package com.acme
package parcels

import java.time.Instant
import cats.syntax.all.{*, given}
import scala.collection.mutable.{Map => MutableMap}

/** How heavy something is, in grams. */
opaque type Weight = Int

type Handler[A] = Parcel => Either[DeliveryError, A]

/** What a parcel can be.
  *
  * Sealed: the router matches on all of them.
  */
sealed trait Parcel extends Product with Serializable {
  def id: Long
  val weight: Weight
  // Whether a person can carry it.
  def isLight: Boolean = weight < Parcel.LightLimit
}

object Parcel {
  val LightLimit: Int = 2000
  private lazy val registry, archive = MutableMap.empty[Long, Parcel]

  implicit val ordering: Ordering[Parcel] = Ordering.by(_.id)

  def apply(id: Long, weight: Int = 100)(implicit clock: Clock): Parcel = {
    val stamp = clock.instant()
    registry.getOrElseUpdate(id, new Letter(id, weight, stamp))
  }

  implicit class ParcelOps(private val parcel: Parcel) extends AnyVal {
    def describe: String = s"#${parcel.id}"
  }
}

@deprecated("use Box", "2.0")
final case class Letter(id: Long, weight: Weight, sent: Instant = Instant.now())
    extends Parcel
    with Logging {
  require(weight > 0)

  var attempts = 0

  def this(id: Long) = this(id, 20)

  @tailrec
  override final def retry[F[_]: Monad](limit: Int)(using log: Logger[F]): F[Unit] =
    if (attempts >= limit) Monad[F].unit
    else {
      attempts += 1
      log.info("again").flatMap(_ => retry(limit))
    }

  def +(other: Letter): Letter = copy(weight = weight + other.weight)
}

enum DeliveryError(val code: Int) extends Exception:
  case NotFound extends DeliveryError(404)
  case Refused(reason: String) extends DeliveryError(403)
  case Late, Lost

  def message: String = s"$code"

// Shows parcels in the log.
given Show[Parcel] with
  def show(parcel: Parcel): String = parcel.toString

given intOrdering: Ordering[Int] = Ordering.Int

extension (weight: Weight)
  def inKilos: Double = weight / 1000.0
  def isHeavy: Boolean = weight > 10_000

trait Router[F[_], -A]:
  self: Logging =>
  type Route
  def route(parcel: A): F[Route]

package object defaults {
  val MaxAttempts = 3
}

@main def run(args: String*): Unit =
  val router = Router.default
  args.foreach(println)

val (low, (mid, high)) = bounds()
val Some(first) = rows.headOption
