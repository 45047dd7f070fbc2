//! Custom destinations: the flat file that applications write.

use super::{LinkBuilder, guid, utf16};

const FOOTER: u32 = 0xBABF_FBAB;
const LINK_CLASS: &str = "00021401-0000-0000-c000-000000000046";

/// Categories one after the other, and what follows the last.
#[derive(Debug, Clone, Default)]
pub struct CustomBuilder {
    count: u32,
    body: Vec<u8>,
    slack: Vec<u8>,
}

impl CustomBuilder {
    /// A file with no category: 12 bytes.
    pub fn new() -> Self {
        Self::default()
    }

    fn category(mut self, kind: u32, parts: &[&[u8]]) -> Self {
        self.count += 1;
        self.body.extend(kind.to_le_bytes());
        for part in parts {
            self.body.extend(*part);
        }
        self.body.extend(FOOTER.to_le_bytes());
        self
    }

    /// Adds a named category; the name may be a resource reference (`@{…}`).
    pub fn named(self, name: &str, links: &[LinkBuilder]) -> Self {
        let units = utf16(name);
        let length = u16::try_from(units.len() / 2).unwrap();
        self.category(0, &[&length.to_le_bytes(), &units, &encode_links(links)])
    }

    /// Adds a known category: 1 frequent, 2 recent, -1 none.
    pub fn known(self, id: i32) -> Self {
        self.category(1, &[&id.to_le_bytes()])
    }

    /// Adds the tasks.
    pub fn tasks(self, links: &[LinkBuilder]) -> Self {
        self.category(2, &[&encode_links(links)])
    }

    /// Bytes after the last footer, as an application leaves that writes a shorter list over a longer one.
    pub fn slack(mut self, bytes: &[u8]) -> Self {
        self.slack = bytes.to_vec();
        self
    }

    /// The file.
    pub fn build(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for value in [2, self.count, 0] {
            out.extend(value.to_le_bytes());
        }
        out.extend(&self.body);
        out.extend(&self.slack);
        out
    }
}

fn encode_links(links: &[LinkBuilder]) -> Vec<u8> {
    let mut out = (links.len() as u32).to_le_bytes().to_vec();
    for link in links {
        out.extend(guid(LINK_CLASS).0);
        out.extend(link.build());
    }
    out
}
