#[test]
fn smoke() {
    let shared = std::path::Path::new("/work/shared/captures/exo-results");
    for name in ["r1_nonstream", "r2_nonstream_cache", "r3_stream", "r4_stream_cache", "r6_reuse"] {
        let bytes = std::fs::read(shared.join(format!("{name}.json"))).unwrap();
        let loaded = analyzer::import::load(name, &bytes).unwrap();
        let report = analyzer::summary::report(&loaded).unwrap();
        println!("{name} {} {:?}", report.format, report.notices);
        for cell in &report.cells {
            println!("{:?}\n{}", cell.key, cell.exo_console.summary_line());
            for l in cell.exo_console.batch_lines(cell.key.concurrency) {
                println!("{l}");
            }
        }
        if name == "r1_nonstream" {
            println!("{}", serde_json::to_string_pretty(&report).unwrap());
        }
    }
}
