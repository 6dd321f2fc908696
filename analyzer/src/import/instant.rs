//! Dates and times as tools write them → seconds since 1970.

/// An instant, and whether the text named its zone. Without one it is taken as UTC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Instant {
    /// Seconds since 1970-01-01 UTC.
    pub(crate) unix_s: f64,
    /// True where the text said so.
    pub(crate) zoned: bool,
}

/// Reads `2026-04-15T00:26:50.258+01:00`, the same with a blank and without zone, or seconds (milliseconds above 10^11)
/// since 1970.
pub(crate) fn parse(text: &str) -> Option<Instant> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        // 10^11 s is the year 5138.
        let unix_s = if seconds.abs() > 1e11 { seconds / 1e3 } else { seconds };
        return Some(Instant { unix_s, zoned: true }).filter(|_| unix_s.is_finite());
    }
    let dashed;
    // vLLM writes 20260816-160853.
    let text = match text.split_once('-') {
        Some((date, clock)) if all_digits(date, 8) && all_digits(clock, 6) => {
            dashed = format!(
                "{}-{}-{}T{}:{}:{}",
                &date[..4],
                &date[4..6],
                &date[6..],
                &clock[..2],
                &clock[2..4],
                &clock[4..]
            );
            dashed.as_str()
        }
        _ => text,
    };
    let (date, clock) = text.split_at_checked(10)?;
    let mut parts = date.split('-');
    let (year, month, day) = (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let clock = clock.strip_prefix(['T', ' ', 't'])?;
    let zone_at = clock.find(['Z', 'z', '+', '-']).unwrap_or(clock.len());
    let (clock, zone) = clock.split_at(zone_at);
    let mut parts = clock.trim().split(':');
    let (hour, minute) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let second: f64 = match parts.next() {
        Some(second) => second.replace(',', ".").parse().ok()?,
        None => 0.0,
    };
    if hour > 24 || minute > 59 || !(0.0..61.0).contains(&second) {
        return None;
    }
    let offset_s = offset(zone)?;
    let days = days_since_1970(year, month, day);
    let whole = days * 86_400 + hour * 3600 + minute * 60 - offset_s;
    Some(Instant { unix_s: whole as f64 + second, zoned: !zone.is_empty() })
}

fn all_digits(text: &str, many: usize) -> bool {
    text.len() == many && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The spelling of an instant whose zone is not known, to the millisecond: `2026-08-16T16:08:51.456`.
pub(crate) fn words(unix_s: f64) -> String {
    let ms = (unix_s * 1e3).round() as i64;
    let (days, rest) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    let (year, month, day) = date_of(days);
    let (hour, minute, second, ms) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60, rest % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}")
}

/// A start as a file has it, spelt so that a person reads it: seconds or milliseconds since 1970 as an instant of UTC, all else
/// as it is.
pub(crate) fn spelt(text: &str) -> String {
    match parse(text).filter(|_| text.trim().parse::<f64>().is_ok()) {
        Some(at) => format!("{}Z", words(at.unix_s).trim_end_matches(".000")),
        None => text.to_owned(),
    }
}

/// The reverse of [`days_since_1970`].
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

fn digits(text: &str, most: usize) -> Option<i64> {
    (1..=most).contains(&text.len()).then(|| text.parse().ok()).flatten().filter(|number: &i64| *number >= 0)
}

fn offset(zone: &str) -> Option<i64> {
    let (sign, rest) = match zone.chars().next() {
        None | Some('Z' | 'z') => return Some(0),
        Some('-') => (-1, &zone[1..]),
        Some(_) => (1, &zone[1..]),
    };
    let rest = rest.replace(':', "");
    let (hours, minutes) = if rest.len() == 2 { (rest.as_str(), "0") } else { rest.split_at_checked(2)? };
    Some(sign * (digits(hours, 2)? * 3600 + digits(minutes, 2)? * 60))
}

/// Days of the proleptic Gregorian calendar, counted from March so that the leap day is a year's last (Hinnant,
/// "chrono-compatible low-level date algorithms").
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spellings_of_one_instant_are_one() {
        // date -u -d @1776209210.258 → 2026-04-14T23:26:50.258
        for text in [
            "2026-04-15T00:26:50.258+01:00",
            "2026-04-14T23:26:50.258Z",
            "2026-04-14 23:26:50,258",
            "1776209210.258",
            "1776209210258",
            "2026-04-14T18:26:50.258-0500",
        ] {
            let found = parse(text).unwrap();
            assert!((found.unix_s - 1_776_209_210.258).abs() < 1e-6, "{text}: {found:?}");
        }
        assert!(!parse("2026-04-14 23:26:50").unwrap().zoned);
        assert_eq!(parse("1970-01-01T00:00:00Z").unwrap().unix_s, 0.0);
        assert_eq!(parse("2000-03-01T00:00:00Z").unwrap().unix_s, 951_868_800.0);
    }

    #[test]
    fn an_instant_is_written_as_it_is_read() {
        assert_eq!(words(parse("20260816-160853").unwrap().unix_s), "2026-08-16T16:08:53.000");
        for text in ["1969-12-31T23:59:59.999", "2000-02-29T00:00:00.000", "2026-11-30T12:00:01.500"] {
            assert_eq!(words(parse(text).unwrap().unix_s), text);
        }
    }

    #[test]
    fn seconds_since_1970_are_spelt_as_an_instant_and_what_is_one_stays() {
        // date -u -d @1790000000 → 2026-09-21T14:13:20
        assert_eq!(spelt("1790000000"), "2026-09-21T14:13:20Z");
        assert_eq!(spelt("1790000000250"), "2026-09-21T14:13:20.250Z");
        assert_eq!(spelt("1770000000.0"), "2026-02-02T02:40:00Z");
        for text in ["2026-04-15T00:26:50.258+01:00", "2026-06-01T10:00:00", "noon", "inf"] {
            assert_eq!(spelt(text), text);
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in
            ["", "noon", "2026-13-01T00:00:00Z", "2026-04-15", "2026-04-15T25:61:00", "é2026-04-15T00:00", "nan", "inf"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
