//! The declaration of knobs, and the macro that turns the table of declarations into types.

/// The values that a knob accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnobShape {
    /// Any number of the range.
    Real,
    /// A whole number of the range.
    Whole,
    /// 0 or 1.
    Switch,
}

crate::named! {
    /// A named set of values for all knobs.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Profile {
        /// The best known by the benchmark.
        #[default]
        Default = "default",
        /// The pipeline as published (ColGREP, pull request 99).
        Classic = "classic",
    }
}

impl Profile {
    pub fn from_name(name: &str) -> Option<Profile> {
        Profile::ALL.into_iter().find(|p| p.name() == name)
    }
}

/// The declaration of one knob: a row of the table in `table.rs`.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Its plain name, such as `alpha`.
    pub name: &'static str,
    /// The values it accepts.
    pub shape: KnobShape,
    /// What it does, in one sentence, with its unit.
    pub doc: &'static str,
    /// Value in the `default` profile.
    pub default: f64,
    /// Value in the `classic` profile.
    pub classic: f64,
    /// Smallest and largest value allowed.
    pub range: (f64, f64),
    /// The value that disables it: 0 for boosts, shares and weights of fields, 1 for factors. `None` for knobs that are
    /// part of a formula (k1, b, depths, switches, sizes).
    pub off: Option<f64>,
    /// Values worth trying in a sweep, at least two, one of which differs from the default.
    pub grid: &'static [f64],
    /// Where the value comes from.
    pub source: &'static str,
}

impl Declaration {
    /// The values it accepts, in words.
    pub fn expected(&self) -> String {
        let (low, high) = self.range;
        match self.shape {
            KnobShape::Switch => "0 or 1".to_string(),
            KnobShape::Whole => format!("a whole number from {low} to {high}"),
            KnobShape::Real => format!("a number from {low} to {high}"),
        }
    }

    pub const fn value_in(&self, profile: Profile) -> f64 {
        match profile {
            Profile::Default => self.default,
            Profile::Classic => self.classic,
        }
    }

    /// Parses a value of the knob; `None` if it does not accept `text`.
    pub(super) fn parse(&self, text: &str) -> Option<f64> {
        let value: f64 = text.trim().parse().ok()?;
        let (low, high) = self.range;
        let fits = value.is_finite()
            && (low..=high).contains(&value)
            && (self.shape == KnobShape::Real || value.fract() == 0.0);
        fits.then_some(value)
    }
}

/// The Rust type that code reads a knob as.
pub(super) trait KnobValue {
    const SHAPE: KnobShape;
    /// The value of a number that fits the shape.
    fn of(number: f64) -> Self;
}

impl KnobValue for f32 {
    const SHAPE: KnobShape = KnobShape::Real;
    fn of(number: f64) -> f32 {
        number as f32
    }
}

impl KnobValue for usize {
    const SHAPE: KnobShape = KnobShape::Whole;
    fn of(number: f64) -> usize {
        number as usize
    }
}

impl KnobValue for bool {
    const SHAPE: KnobShape = KnobShape::Switch;
    fn of(number: f64) -> bool {
        number != 0.0
    }
}

/// From one row per knob, `Variant field: type { declaration }`: the enum [`Knob`](super::Knob), whose discriminant is
/// the row's number; the declarations in the same order; and [`Values`](super::Values), a typed field per knob.
macro_rules! knobs {
    ($($knob:ident $field:ident: $type:ty { doc: $doc:literal, $($key:ident: $value:expr),* $(,)? })*) => {
        /// A constant of the ranking; its number is its row in the table of knobs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Knob {
            $(#[doc = $doc] $knob,)*
        }

        impl Knob {
            /// Every knob, in pipeline order.
            pub const ALL: &'static [Knob] = &[$(Knob::$knob),*];
        }

        pub(super) const COUNT: usize = Knob::ALL.len();

        /// The declaration of each knob, by its number.
        pub(super) static DECLARATIONS: [Declaration; COUNT] = [$(
            Declaration {
                name: stringify!($field),
                shape: <$type as KnobValue>::SHAPE,
                doc: $doc,
                $($key: $value),*
            }
        ),*];

        /// The values in force, as the code reads them: `knobs.alpha`.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Values {
            $(#[doc = $doc] pub $field: $type,)*
        }

        impl Values {
            /// The typed form of one number per knob.
            pub(super) fn of(numbers: &[f64; COUNT]) -> Values {
                Values { $($field: KnobValue::of(numbers[Knob::$knob as usize])),* }
            }
        }
    };
}
pub(super) use knobs;
