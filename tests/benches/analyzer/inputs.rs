//! Result files to measure with: made up, the same at each run.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use serde_json::{Value, json};

/// Noise from a seed (a linear congruence with Knuth's constants); about normal with mean 0 and deviation 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        let mut sum = 0.0;
        for _ in 0..12 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            sum += (self.0 >> 11) as f64 / (1_u64 << 53) as f64;
        }
        sum - 6.0
    }
}

/// A row of exo's, as one of forty cells.
fn row(place: usize, noise: &mut Noise, speed: f64) -> Value {
    let (pp, tg) = ([512, 1024, 2048, 4096, 8192][place % 5], [64, 128][place / 5 % 2]);
    let nodes = place / 10 % 4 + 1;
    let prompt_tps = 900.0 * speed * (1.0 + 0.02 * noise.next());
    let generation_tps = 40.0 * speed * (1.0 + 0.02 * noise.next());
    json!({
        "elapsed_s": f64::from(pp) / prompt_tps + f64::from(tg) / generation_tps,
        "output_text_preview": "The lamp is lit at dusk, and the keeper writes the hour into the book. ".repeat(2),
        "stats": {
            "prompt_tps": prompt_tps, "generation_tps": generation_tps, "prompt_tokens": pp, "generation_tokens": tg,
            "peak_memory_usage": {"inBytes": 7_516_194_080_u64 + place as u64 % 7}, "prefix_cache_hit": "none",
        },
        "power_usage": null,
        "model_short_id": "Lantern-9B-4bit", "model_id": "fixture-org/Lantern-9B-4bit",
        "placement_sharding": "Pipeline", "placement_instance_meta": "MlxRing", "placement_nodes": nodes,
        "instance_id": format!("5a5a5a5a-0000-4000-8000-00000000000{nodes}"),
        "pp_tokens": pp, "tg": tg, "repeat_index": place / 40, "concurrency": 1,
    })
}

/// A file of exo's shape with so many rows.
pub(crate) fn rows(path: &Path, count: usize, speed: f64) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    // Another seed per file: two of the same would have the same noise.
    let mut noise = Noise((count as f64 * speed) as u64);
    file.write_all(b"{\"runs\": [")?;
    for place in 0..count {
        file.write_all(if place == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut file, &row(place, &mut noise, speed))?;
    }
    file.write_all(b"]}")?;
    file.flush()
}

/// A file of ours of about so many bytes, each answer with the instants of its tokens; gives its rows.
pub(crate) fn tokens(path: &Path, bytes: usize, speed: f64) -> io::Result<usize> {
    let mut written =
        serde_json::from_slice::<Value>(&std::fs::read(tests::fixture("results/exoscope_simulated_base.json"))?)?;
    let detail = written["runs"][0]["exoscope"].clone();
    let fields = written.as_object_mut().expect("an object");
    fields.retain(|key, _| key == "exoscope");
    let mut file = BufWriter::new(File::create(path)?);
    let mut noise = Noise(speed.to_bits());
    write!(file, "{{\"exoscope\": {}, \"runs\": [", written["exoscope"])?;
    let (mut size, mut count) = (0, 0);
    while size < bytes {
        let mut row = row(count, &mut noise, speed);
        let mut detail = detail.clone();
        let (sent, first) = (count as f64 * 10.0, 1.0 / speed);
        let offsets: Vec<f64> =
            (0..512).map(|token| first + f64::from(token) * 0.025 / speed + 1e-4 * noise.next()).collect();
        detail["streamed"] = true.into();
        detail["timing"] = json!({
            "intended_s": sent, "sent_s": sent, "headers_s": sent + 0.01, "first_byte_s": sent + 0.01,
            "first_token_s": sent + offsets[0], "last_token_s": sent + offsets[511], "done_s": sent + offsets[511] + 0.01,
            "connect_s": 0.001, "token_offsets_s": offsets,
        });
        row["exoscope"] = detail;
        let text = row.to_string();
        file.write_all(if count == 0 { b"\n" } else { b",\n" })?;
        file.write_all(text.as_bytes())?;
        size += text.len();
        count += 1;
    }
    file.write_all(b"]}")?;
    file.flush()?;
    Ok(count)
}
