//! Parses numbers as `strtoul` of the C library, which OpenSM uses for all numbers.

/// Returns the result of `strtoul(text, &end, 0)` as 32 bits, and the end of the number.
///
/// Leading white space is skipped. `0x` starts a hexadecimal number, a plain `0` an octal number,
/// and a minus sign wraps around. Without a number, returns 0 and the start of the text.
pub(super) fn strtoul(text: &[u8]) -> (u32, usize) {
    let mut at = text.iter().take_while(|&&byte| is_c_space(byte)).count();
    let is_negative = text.get(at) == Some(&b'-');
    if matches!(text.get(at), Some(b'-' | b'+')) {
        at += 1;
    }
    let digit = |at: usize, radix: u32| {
        let byte = *text.get(at)?;
        char::from(byte).to_digit(radix)
    };
    let has_prefix = digit(at, 10) == Some(0) && matches!(text.get(at + 1), Some(b'x' | b'X'));
    let radix = match (has_prefix && digit(at + 2, 16).is_some(), digit(at, 10)) {
        (true, _) => {
            at += 2;
            16
        }
        (false, Some(0)) => 8,
        _ => 10,
    };
    if digit(at, radix).is_none() {
        return (0, 0);
    }
    let mut number: Option<u64> = Some(0);
    while let Some(next) = digit(at, radix) {
        number = number
            .and_then(|n| n.checked_mul(u64::from(radix)))
            .and_then(|n| n.checked_add(u64::from(next)));
        at += 1;
    }
    let number = match (number, is_negative) {
        (None, _) => u64::MAX,
        (Some(number), true) => number.wrapping_neg(),
        (Some(number), false) => number,
    };
    (number as u32, at)
}

/// Returns whether a byte is white space in the C locale.
pub(super) fn is_c_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

#[cfg(test)]
mod tests {
    use super::strtoul;

    #[test]
    fn numbers_are_decimal_hexadecimal_or_octal() {
        let cases: [(&str, (u32, usize)); 11] = [
            ("12,", (12, 2)),
            ("  7", (7, 3)),
            ("0x1F:", (31, 4)),
            ("010", (8, 3)),
            ("08", (0, 1)),
            ("0x", (0, 1)),
            ("-1", (u32::MAX, 2)),
            ("-", (0, 0)),
            ("", (0, 0)),
            (":4", (0, 0)),
            ("99999999999999999999", (u32::MAX, 20)),
        ];
        for (text, expected) in cases {
            assert_eq!(strtoul(text.as_bytes()), expected, "{text:?}");
        }
    }
}
