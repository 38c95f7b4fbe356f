//! Bit fields at fixed offsets, as the standard defines attributes.

/// A bit field, numbered as in the standard: bit 0 is the high bit of byte 0. The first bit is the
/// most significant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Field {
    first: usize,
    bits: usize,
}

impl Field {
    /// Creates a field of `bits` bits starting at bit `bit` of byte `byte`. It lies within a byte,
    /// or covers up to eight whole bytes.
    pub(super) const fn new(byte: usize, bit: usize, bits: usize) -> Field {
        let in_a_byte = bit + bits <= 8;
        let whole_bytes = bit == 0 && bits.is_multiple_of(8) && bits <= 64;
        assert!(bits > 0 && (in_a_byte || whole_bytes));
        Field {
            first: byte * 8 + bit,
            bits,
        }
    }

    /// Returns the value in `data`.
    #[inline]
    pub(super) fn get(self, data: &[u8]) -> u64 {
        let (start, end, shift) = self.place();
        let bytes = data[start..end].iter();
        let value = bytes.fold(0, |value, byte| value << 8 | u64::from(*byte));
        value >> shift & self.largest()
    }

    /// Writes the low bits of `value`, and leaves all other bits of `data` unchanged.
    #[inline]
    pub(super) fn set(self, data: &mut [u8], value: u64) {
        let (start, end, shift) = self.place();
        let mut ones = self.largest() << shift;
        let mut value = (value & self.largest()) << shift;
        for byte in data[start..end].iter_mut().rev() {
            *byte = *byte & !(ones as u8) | value as u8;
            ones >>= 8;
            value >>= 8;
        }
    }

    /// Copies the field of `from` to `to`.
    #[inline]
    pub(super) fn copy(self, from: &[u8], to: &mut [u8]) {
        self.set(to, self.get(from));
    }

    /// Returns the largest value that fits: all ones.
    #[inline]
    pub(super) const fn largest(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// Returns the first byte, the byte after the last, and the number of bits after the field in
    /// the last byte.
    #[inline]
    const fn place(self) -> (usize, usize, usize) {
        let end_bit = self.first + self.bits;
        let end = end_bit.div_ceil(8);
        (self.first / 8, end, end * 8 - end_bit)
    }
}

/// Defines the layout of an attribute: a constant per field (byte, bit in it, number of bits), and
/// a list of all fields for tests.
macro_rules! layout {
    ($($(#[$doc:meta])* $name:ident: $byte:literal, $bit:literal, $bits:literal;)*) => {
        $(
            $(#[$doc])*
            #[allow(dead_code, reason = "a layout lists all fields of the standard")]
            pub(in crate::emulate) const $name: $crate::emulate::field::Field =
                $crate::emulate::field::Field::new($byte, $bit, $bits);
        )*

        /// Every field, in the order of the standard.
        #[cfg(test)]
        pub(in crate::emulate) const FIELDS: &[(&str, $crate::emulate::field::Field)] =
            &[$((stringify!($name), $name)),*];
    };
}
pub(super) use layout;

/// Checks a layout: fields do not overlap, a field reads what was written, and a write does not
/// change other bits.
#[cfg(test)]
pub(super) fn check_layout(fields: &[(&str, Field)], n_bytes: usize) {
    let mut end = 0;
    for (name, field) in fields {
        assert!(field.first >= end, "{name} overlaps the field before it");
        end = field.first + field.bits;
        assert!(end <= n_bytes * 8, "{name} is behind the end");
        for value in [0, 1, field.largest() / 3, field.largest()] {
            for background in [0x00, 0xff, 0xa5] {
                let mut data = vec![background; n_bytes];
                field.set(&mut data, value);
                assert_eq!(field.get(&data), value, "{name}");
                for bit in 0..n_bytes * 8 {
                    let is_inside = bit >= field.first && bit < end;
                    let of = |byte: u8| byte >> (7 - bit % 8) & 1;
                    let is_unchanged = of(data[bit / 8]) == of(background);
                    assert!(is_inside || is_unchanged, "{name} changes bit {bit}");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bit_of_a_field_weighs_most() {
        let data = [0x12, 0x34, 0b1010_0110];
        assert_eq!(Field::new(0, 0, 16).get(&data), 0x1234);
        assert_eq!(Field::new(2, 0, 3).get(&data), 0b101);
        assert_eq!(Field::new(2, 3, 5).get(&data), 0b00110);
        assert_eq!(Field::new(2, 7, 1).get(&data), 0);
    }

    #[test]
    fn writing_too_large_a_value_keeps_its_low_bits_and_the_neighbours() {
        let mut data = [0xf0, 0x0f];
        Field::new(0, 4, 4).set(&mut data, 0x5a);
        assert_eq!(data, [0xfa, 0x0f]);
        Field::new(1, 0, 8).set(&mut data, 0x1ff);
        assert_eq!(data, [0xfa, 0xff]);
    }
}
