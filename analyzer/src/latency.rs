//! Times of one request: the gaps between its tokens, and what lies between the client's clock and the server's.

use crate::statistics::quantile;

/// Mean gap between the token frames of a stream, s. `offsets_s` are the instants of the frames where they were kept; else
/// the first, the last and their number say the same. None for fewer than two frames.
#[must_use]
pub fn mean_gap_s(offsets_s: Option<&[f64]>, first_last_frames: Option<(f64, f64, u64)>) -> Option<f64> {
    let (first, last, frames) = match offsets_s {
        Some([first, .., last]) => (*first, *last, offsets_s.map_or(0, <[f64]>::len) as u64),
        Some(_) => return None,
        None => first_last_frames?,
    };
    (frames >= 2 && last > first).then(|| (last - first) / (frames - 1) as f64)
}

/// The 99th percentile of the gaps between frames, s, and the number of gaps. None for fewer than two gaps.
#[must_use]
pub fn late_gap_s(offsets_s: &[f64]) -> Option<(f64, usize)> {
    let gaps: Vec<f64> = offsets_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
    if gaps.len() < 2 { None } else { quantile::quantile(&gaps, 0.99).map(|gap| (gap, gaps.len())) }
}

/// Time per output token after the first, client's clock, s: (last token − first token) / (tokens − 1). Frames may carry
/// several tokens, so this differs from the gap. None for one token.
#[must_use]
pub fn time_per_token_s(first_s: f64, last_s: f64, tokens: u64) -> Option<f64> {
    (tokens >= 2 && last_s > first_s).then(|| (last_s - first_s) / (tokens - 1) as f64)
}

/// Seconds that the server's clock gives to `tokens` at a rate whose first token is free, as both of exo's rates count.
/// None where the rate is not positive; 0 for one token.
#[must_use]
pub fn server_phase_s(tokens: Option<f64>, rate: Option<f64>) -> Option<f64> {
    let tokens = tokens.filter(|tokens| *tokens >= 1.0)?;
    if tokens <= 1.0 { Some(0.0) } else { rate.filter(|rate| *rate > 0.0).map(|rate| (tokens - 1.0) / rate) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_from_the_offsets_or_from_first_last_and_count() {
        assert_eq!(mean_gap_s(Some(&[0.5, 1.0, 2.5]), None), Some(1.0));
        assert_eq!(mean_gap_s(None, Some((0.5, 2.5, 3))), Some(1.0));
        assert_eq!(mean_gap_s(Some(&[0.5]), None), None);
        assert_eq!(late_gap_s(&[0.0, 1.0, 3.0]), Some((1.99, 2)));
        assert_eq!(late_gap_s(&[0.0, 1.0]), None, "one gap has no tail");
    }

    #[test]
    fn frames_are_not_tokens() {
        assert_eq!(time_per_token_s(0.5, 2.5, 5), Some(0.5));
        assert_eq!(time_per_token_s(0.5, 0.5, 1), None);
    }

    #[test]
    fn the_servers_phases_do_not_count_the_first_token() {
        assert_eq!(server_phase_s(Some(101.0), Some(50.0)), Some(2.0));
        assert_eq!(server_phase_s(Some(1.0), Some(0.0)), Some(0.0), "one token takes no time, whatever the rate");
        assert_eq!(server_phase_s(Some(9.0), Some(0.0)), None);
    }
}
