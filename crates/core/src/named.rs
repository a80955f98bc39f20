//! Enums whose variants have names.

/// Declares an enum with a name for each variant, a constant `ALL`, and `name()`.
#[macro_export]
macro_rules! named {
    ($(#[$of_type:meta])* $vis:vis enum $type:ident { $($(#[$of_variant:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$of_type])*
        $vis enum $type {
            $($(#[$of_variant])* $variant,)*
        }

        impl $type {
            /// Every variant, in the order of declaration.
            pub const ALL: [$type; [$($name),*].len()] = [$($type::$variant),*];

            /// The name in output, flags and settings.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }
        }
    };
}
