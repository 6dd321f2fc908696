//! The rate of a batch of requests that were started together, three ways: they answer three questions.
//!
//! `max × N` is what exo prints, the sum of rates is what decoding alone adds up to, and tokens over wall time is what a
//! user of the whole machine gets.

/// exo's `agg_gen_tps`: the largest positive decode rate times the concurrency asked for (not the requests that succeeded).
#[must_use]
pub fn max_times_concurrency(rates: &[Option<f64>], concurrency: u32) -> Option<f64> {
    largest(rates).map(|rate| rate * f64::from(concurrency))
}

/// exo's `per_req_tps`: the largest positive decode rate; None where there is none.
#[must_use]
pub fn largest(rates: &[Option<f64>]) -> Option<f64> {
    rates.iter().flatten().copied().filter(|rate| *rate > 0.0).reduce(f64::max)
}

/// Sum of the decode rates. None where one is missing: a sum over fewer requests is not the batch's.
#[must_use]
pub fn sum_of_rates(rates: &[Option<f64>]) -> Option<f64> {
    if rates.is_empty() { None } else { rates.iter().copied().sum() }
}

/// All generated tokens over the wall time in seconds. None where a count is missing or the time is not positive.
#[must_use]
pub fn tokens_over_wall(tokens: &[Option<f64>], wall_s: Option<f64>) -> Option<f64> {
    let wall_s = wall_s.filter(|seconds| *seconds > 0.0)?;
    let tokens: f64 = tokens.iter().copied().sum::<Option<f64>>()?;
    (tokens > 0.0).then_some(tokens / wall_s)
}

/// Requests over the wall time in seconds. None where the time is not positive.
#[must_use]
pub fn requests_over_wall(requests: usize, wall_s: Option<f64>) -> Option<f64> {
    wall_s.filter(|seconds| *seconds > 0.0).map(|seconds| requests as f64 / seconds)
}

/// Last request of a batch sent minus first, s. None where a stamp is missing or a request stands alone.
#[must_use]
pub fn send_spread_s(sent_s: &[Option<f64>]) -> Option<f64> {
    let sent: Vec<f64> = sent_s.iter().copied().collect::<Option<_>>()?;
    let first = sent.iter().copied().reduce(f64::min)?;
    (sent.len() > 1).then(|| sent.iter().copied().fold(first, f64::max) - first)
}

/// Wall time of a batch in seconds: last answer done minus first request sent where every request was stamped, else the
/// longest elapsed time, which counts from the batch's common start (exo since 2026-04-05).
#[must_use]
pub fn wall_s(sent_s: &[Option<f64>], done_s: &[Option<f64>], elapsed_s: &[Option<f64>]) -> Option<f64> {
    stamped_window(sent_s, done_s)
        .map(|(from, to)| to - from)
        .or_else(|| elapsed_s.iter().flatten().copied().reduce(f64::max))
}

/// First request sent and last answer done; None where a stamp is missing or they stand the wrong way round.
#[must_use]
pub fn stamped_window(sent_s: &[Option<f64>], done_s: &[Option<f64>]) -> Option<(f64, f64)> {
    let sent: Option<Vec<f64>> = sent_s.iter().copied().collect();
    let done: Option<Vec<f64>> = done_s.iter().copied().collect();
    let from = sent?.into_iter().reduce(f64::min)?;
    let to = done?.into_iter().reduce(f64::max)?;
    (to > from).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    // request   decode tok/s   tokens   sent   done
    // a         10             40       0.0    5.0
    // b          6             40       0.1    8.0
    const RATES: [Option<f64>; 2] = [Some(10.0), Some(6.0)];
    const TOKENS: [Option<f64>; 2] = [Some(40.0), Some(40.0)];

    #[test]
    fn the_three_aggregates_differ() {
        let wall = wall_s(&[Some(0.0), Some(0.1)], &[Some(5.0), Some(8.0)], &[Some(5.0), Some(7.9)]);
        assert_eq!(max_times_concurrency(&RATES, 3), Some(30.0));
        assert_eq!(sum_of_rates(&RATES), Some(16.0));
        assert_eq!(tokens_over_wall(&TOKENS, wall), Some(10.0));
        assert_eq!(requests_over_wall(2, wall), Some(0.25));
    }

    #[test]
    fn without_stamps_the_longest_elapsed_time_is_the_wall() {
        assert_eq!(wall_s(&[None, Some(0.1)], &[None, Some(8.0)], &[Some(5.0), Some(7.9)]), Some(7.9));
    }

    #[test]
    fn the_spread_of_sending_needs_two_stamps() {
        assert_eq!(send_spread_s(&[Some(1.0), Some(1.5), Some(1.25)]), Some(0.5));
        assert_eq!(send_spread_s(&[Some(1.0)]), None);
        assert_eq!(send_spread_s(&[Some(1.0), None]), None);
    }

    #[test]
    fn what_is_missing_makes_the_answer_absent() {
        assert_eq!(sum_of_rates(&[Some(1.0), None]), None);
        assert_eq!(tokens_over_wall(&[Some(1.0), None], Some(1.0)), None);
        assert_eq!(tokens_over_wall(&TOKENS, Some(0.0)), None);
        assert_eq!(largest(&[Some(0.0), None]), None);
    }
}
