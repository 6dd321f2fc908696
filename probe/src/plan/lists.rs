//! Number lists on the command line: `512 4096`, `512,4096` and `512, 4096` are the same list.

/// A list that cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// A piece is no whole number.
    #[error(
        "{flag}: \"{piece}\" is not a whole number below 2^63; give numbers separated by commas or spaces, like {flag} 512,4096"
    )]
    NotANumber {
        /// The flag.
        flag: &'static str,
        /// The piece.
        piece: String,
    },
    /// Nothing but commas and blanks.
    #[error("{flag} holds no number; give at least one, like {flag} 512")]
    Empty {
        /// The flag.
        flag: &'static str,
    },
}

/// Reads the values of one flag. Blanks and empty pieces are dropped, the order is kept, signs are read so that a later
/// check can say what is wrong with a negative number.
///
/// # Errors
/// A piece that is no whole number, or no piece at all.
pub fn read(flag: &'static str, values: &[String]) -> Result<Vec<i64>, ListError> {
    let mut numbers = Vec::new();
    for piece in values.iter().flat_map(|value| value.split([',', ' ', '\t'])) {
        let piece = piece.trim();
        if piece.is_empty() {
            continue;
        }
        let number = piece.parse().map_err(|_| ListError::NotANumber { flag, piece: piece.into() })?;
        numbers.push(number);
    }
    if numbers.is_empty() { Err(ListError::Empty { flag }) } else { Ok(numbers) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(values: &[&str]) -> Result<Vec<i64>, ListError> {
        read("--pp", &values.iter().map(|&value| value.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn commas_and_spaces_may_be_mixed() {
        assert_eq!(list(&["512", "4096"]), Ok(vec![512, 4096]));
        assert_eq!(list(&["512,4096"]), Ok(vec![512, 4096]));
        assert_eq!(list(&["1,2", " 3 ,", "4 5"]), Ok(vec![1, 2, 3, 4, 5]));
    }

    #[test]
    fn a_wrong_piece_is_named() {
        let error = list(&["512,4k"]).unwrap_err().to_string();
        assert!(error.contains("\"4k\""), "{error}");
        assert_eq!(list(&[" , "]), Err(ListError::Empty { flag: "--pp" }));
    }
}
