use jlfix::model::*;
fn main() {
    for p in std::env::args().skip(1) {
        let data = std::fs::read(&p).unwrap();
        let s = Source::read(&data, Kind::of_name(&p), &Default::default()).unwrap();
        match &s {
            Source::Automatic(Ok(c)) => {
                let l = JumpList::read(c);
                println!(
                    "{p}: {:?} entries {} links {} orphans {} others {}",
                    l.version(),
                    l.entries.len(),
                    l.links(),
                    l.orphans.len(),
                    l.others.len()
                );
                for f in l.findings(Default::default()) {
                    println!("   {} {} {}", f.code, f.severity(), f.message);
                }
                let k = jlfix::cost::Cost::of(&l);
                println!("   {k:?} {:.1} {:.3}", k.mean_read(), k.passes());
                let pins: Vec<_> = l.entries.iter().filter(|e| e.dest.is_pinned()).map(|e| e.dest.pin).collect();
                if !pins.is_empty() {
                    println!("   pins {pins:?}");
                }
            }
            o => {
                println!("{p} {:?}", o.kind());
                for f in o.findings() {
                    println!("   {} {} {}", f.code, f.severity(), f.message);
                }
                if let Source::Custom(c) = o {
                    println!(
                        "  cats {:?}",
                        c.categories
                            .iter()
                            .map(|c| (c.kind.to_string(), c.declared, c.links.len()))
                            .collect::<Vec<_>>()
                    );
                }
            }
        }
    }
}
