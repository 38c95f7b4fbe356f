//! The macro [`encoded!`](crate::encoded).

/// Implements [`Encoded`](crate::Encoded) for a record with named fields, with one unnamed field,
/// or with variants of named fields.
///
/// The compiler rejects a list that omits a field or variant.
///
/// ```
/// use netloom_encoding::{Encoded, encoded};
///
/// #[derive(Debug, PartialEq)]
/// struct Point { x: u32, y: u16 }
/// encoded!(Point { x, y });
///
/// #[derive(Debug, PartialEq)]
/// struct Id(u32);
/// encoded!(Id(_));
///
/// #[derive(Debug, PartialEq)]
/// enum Step { Stay {}, Go { by: u8 } }
/// encoded!(enum Step { Stay {}, Go { by } });
///
/// let point = Point { x: 7, y: 300 };
/// assert_eq!(point.to_bytes(), [7, 0, 0, 0, 44, 1]);
/// assert_eq!(Point::from_bytes(&point.to_bytes()), Some(point));
/// assert_eq!(Step::from_bytes(&[1, 9]), Some(Step::Go { by: 9 }));
/// assert_eq!(Step::from_bytes(&[2, 9]), None);
/// assert_eq!(Id(5).to_bytes(), [5, 0, 0, 0]);
/// ```
#[macro_export]
macro_rules! encoded {
    ($record:ident { $($field:ident),* $(,)? }) => {
        impl $crate::Encoded for $record {
            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                let $record { $($field),* } = self;
                $($crate::Encoded::put($field, out);)*
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Option<Self> {
                Some($record { $($field: $crate::Encoded::take(from)?),* })
            }
        }
    };
    ($record:ident(_)) => {
        impl $crate::Encoded for $record {
            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                $crate::Encoded::put(&self.0, out);
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Option<Self> {
                $crate::Encoded::take(from).map($record)
            }
        }
    };
    (enum $record:ident { $($variant:ident { $($field:ident),* $(,)? }),* $(,)? }) => {
        const _: () = {
            /// The number of each variant.
            #[repr(u8)]
            enum Number { $($variant),* }

            impl $crate::Encoded for $record {
                #[inline]
                fn put(&self, out: &mut Vec<u8>) {
                    match self {
                        $($record::$variant { $($field),* } => {
                            out.push(Number::$variant as u8);
                            $($crate::Encoded::put($field, out);)*
                        })*
                    }
                }

                #[inline]
                fn take(from: &mut &[u8]) -> Option<Self> {
                    let number = <u8 as $crate::Encoded>::take(from)?;
                    $(if number == Number::$variant as u8 {
                        return Some($record::$variant { $($field: $crate::Encoded::take(from)?),* });
                    })*
                    None
                }
            }
        };
    };
}
