//! Who can write to a file, from its security descriptor in text form (SDDL, MS-DTYP 2.5.1). Pure, so that the decision
//! is tested on every system.

use std::path::Path;

/// Account names of the text form that stand for administrators and the system, whom a user cannot keep out anyway.
const TRUSTED: [&str; 12] = [
    "BA",
    "SY",
    "LA",
    "DA",
    "EA",
    "S-1-5-32-544",
    "S-1-5-18",
    // The owner of the file, who is looked at as such.
    "CO",
    "OW",
    "S-1-3-0",
    "S-1-3-4",
    // TrustedInstaller, which owns files of Windows.
    "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",
];

/// Rights that change a file, a folder or who can do so: generic all and write, write the owner or the access list,
/// delete, write data (DC), append (LC), write attributes of either kind (RP, CR), delete a child (DT).
const WRITING: [&str; 12] = ["GA", "GW", "WO", "WD", "SD", "FA", "FW", "DC", "LC", "RP", "CR", "DT"];
/// As [`WRITING`], as bits of an access mask (MS-DTYP 2.4.3).
const WRITING_BITS: u32 =
    0x5000_0000 | 0x000D_0000 | 0x0000_0002 | 0x0000_0004 | 0x0000_0010 | 0x0000_0040 | 0x0000_0100;

/// Why a file with this security descriptor is not to be trusted: somebody other than `own` and `also` (security ids),
/// administrators and the system owns it or can write to it. `None` if nobody else can.
pub(super) fn untrusted(sddl: &str, own: &str, also: Option<&str>) -> Option<Untrusted> {
    let is_trusted = |account: &str| account == own || Some(account) == also || TRUSTED.contains(&account);
    if let Some(owner) = part(sddl, 'O').filter(|owner| !is_trusted(owner)) {
        return Some(Untrusted::Owner(owner.to_owned()));
    }
    let Some(list) = access_list(sddl) else { return Some(Untrusted::NoList) };
    list.filter(|entry| entry.allows() && !entry.is_only_inherited() && can_write(entry.rights))
        .map(|entry| entry.account)
        .find(|account| !is_trusted(account))
        .map(|account| Untrusted::Writer(account.to_owned()))
}

/// An entry of an access list (MS-DTYP 2.5.1.1).
#[derive(Debug, Clone, Copy)]
struct AccessEntry<'s> {
    kind: &'s str,
    flags: &'s str,
    rights: &'s str,
    account: &'s str,
}

impl AccessEntry<'_> {
    /// True for an entry that allows something, also for an object or under a condition.
    fn allows(self) -> bool {
        matches!(self.kind, "A" | "OA" | "XA" | "ZA")
    }

    /// True for one that says nothing of this file, only of what is made in it.
    fn is_only_inherited(self) -> bool {
        pairs(self.flags).any(|flag| flag == "IO")
    }
}

/// The entries of the access list; `None` if there is no list, which lets in everybody.
fn access_list(sddl: &str) -> Option<impl Iterator<Item = AccessEntry<'_>>> {
    let list = part(sddl, 'D').filter(|list| !list.starts_with("NO_ACCESS_CONTROL"))?;
    let entries = list.split('(').skip(1).filter_map(|entry| entry.split(')').next());
    Some(entries.filter_map(|entry| {
        let mut fields = entry.split(';');
        let (kind, flags, rights) = (fields.next()?, fields.next()?, fields.next()?);
        Some(AccessEntry { kind, flags, rights, account: fields.nth(2)? })
    }))
}

/// True if the access list of `new` lets in nobody that `old` does not, each with the same rights: every entry of it that
/// allows something is in `old` as well, whatever its flags of inheritance.
pub(super) fn grants_no_more(new: &str, old: &str) -> bool {
    let (Some(new), Some(old)) = (access_list(new), access_list(old)) else { return false };
    let old: Vec<AccessEntry<'_>> = old.collect();
    let is_in_old = |entry: AccessEntry<'_>| {
        old.iter().any(|other| other.kind == "A" && (other.rights, other.account) == (entry.rights, entry.account))
    };
    // An entry that denies would have to be in the new list.
    !old.iter().any(|entry| entry.kind == "D") && new.filter(|entry| entry.kind == "A").all(is_in_old)
}

/// Why a file is not trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Untrusted {
    /// This account owns it.
    Owner(String),
    /// This account can write to it.
    Writer(String),
    /// It has no access list: everybody can.
    NoList,
}

impl Untrusted {
    /// The reason, with the command that corrects it.
    pub(super) fn describe(&self, path: &Path, own: &str) -> String {
        let shown = path.display();
        let trustees = format!("\"*{own}:F\" \"*S-1-5-18:F\" \"*S-1-5-32-544:F\"");
        match self {
            Self::Owner(account) => {
                format!("it belongs to {}; correct it with: icacls \"{shown}\" /setowner \"*{own}\"", name(account))
            }
            Self::Writer(account) => format!(
                "{} can write to it; correct it with: icacls \"{shown}\" /inheritance:r /grant:r {trustees} /remove \"*{}\"",
                name(account),
                security_id(account)
            ),
            Self::NoList => format!(
                "everybody can write to it; correct it with: icacls \"{shown}\" /inheritance:r /grant:r {trustees}"
            ),
        }
    }
}

/// Accounts that the text form shortens: the code, the security id, the name.
const ACCOUNTS: [(&str, &str, &str); 8] = [
    ("WD", "S-1-1-0", "Everyone"),
    ("AU", "S-1-5-11", "Authenticated Users"),
    ("BU", "S-1-5-32-545", "Users"),
    ("BG", "S-1-5-32-546", "Guests"),
    ("PU", "S-1-5-32-547", "Power Users"),
    ("IU", "S-1-5-4", "Interactive"),
    ("NU", "S-1-5-2", "Network"),
    ("AN", "S-1-5-7", "Anonymous"),
];

fn security_id(account: &str) -> &str {
    ACCOUNTS.iter().find(|(code, ..)| *code == account).map_or(account, |(_, id, _)| id)
}

fn name(account: &str) -> &str {
    ACCOUNTS.iter().find(|(code, ..)| *code == account).map_or(account, |(.., name)| name)
}

fn can_write(rights: &str) -> bool {
    if let Some(hex) = rights.strip_prefix("0x") {
        return u32::from_str_radix(hex, 16).is_ok_and(|mask| mask & WRITING_BITS != 0);
    }
    if let Ok(mask) = rights.parse::<u32>() {
        return mask & WRITING_BITS != 0;
    }
    pairs(rights).any(|right| WRITING.contains(&right))
}

/// Codes of two letters each.
fn pairs(text: &str) -> impl Iterator<Item = &str> {
    (0..text.len()).step_by(2).filter_map(|at| text.get(at..at.saturating_add(2)))
}

/// The part of the text that `letter` and a colon begin: up to the next part outside parentheses.
fn part(sddl: &str, letter: char) -> Option<&str> {
    let mut depth = 0_u32;
    let mut start = None;
    let mut before = None;
    for (at, c) in sddl.char_indices() {
        match c {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => {
                if let Some((letter_at, found)) = before.filter(|(_, found)| "OGDS".contains(*found)) {
                    if let Some(start) = start {
                        return sddl.get(start..letter_at);
                    }
                    if found == letter {
                        start = Some(at.saturating_add(1));
                    }
                }
            }
            _ => {}
        }
        before = Some((at, c));
    }
    start.and_then(|start| sddl.get(start..))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "S-1-5-21-1-2-3-1001";

    #[test]
    fn only_the_user_administrators_and_the_system_may_own_or_write() {
        let own = format!("O:{OWN}G:S-1-5-21-1-2-3-513D:P(A;OICI;FA;;;{OWN})(A;OICI;FA;;;SY)(A;;FA;;;BA)");
        assert_eq!(untrusted(&own, OWN, None), None);
        let read = "O:BAG:SYD:AI(A;ID;FA;;;SY)(A;ID;0x1200a9;;;BU)(A;ID;FR;;;WD)(A;OICIIO;GA;;;CO)S:AI(AU;;;;;WD)";
        assert_eq!(untrusted(read, OWN, None), None, "others may read");
        for (sddl, why) in [
            (format!("O:S-1-5-21-9D:(A;;FA;;;{OWN})"), Untrusted::Owner("S-1-5-21-9".to_owned())),
            (format!("O:{OWN}D:AI(A;ID;0x1301bf;;;AU)"), Untrusted::Writer("AU".to_owned())),
            (format!("O:{OWN}D:(A;OICI;FA;;;WD)"), Untrusted::Writer("WD".to_owned())),
            (format!("O:{OWN}D:(A;;CCDCLC;;;BU)"), Untrusted::Writer("BU".to_owned())),
            (format!("O:{OWN}D:(A;;0x2;;;S-1-5-21-1-2-3-1002)"), Untrusted::Writer("S-1-5-21-1-2-3-1002".to_owned())),
            (format!("O:{OWN}G:BAD:NO_ACCESS_CONTROL"), Untrusted::NoList),
            (format!("O:{OWN}G:BA"), Untrusted::NoList),
        ] {
            assert_eq!(untrusted(&sddl, OWN, None), Some(why), "{sddl}");
        }
        let other = format!("O:S-1-5-21-9D:(A;;FA;;;S-1-5-21-9)(A;;FA;;;{OWN})");
        assert_eq!(untrusted(&other, OWN, Some("S-1-5-21-9")), None, "the user whose store it is");
        let text = Untrusted::Writer("AU".to_owned()).describe(Path::new("C:\\store"), OWN);
        assert!(
            text.starts_with("Authenticated Users can write to it; correct it with: icacls \"C:\\store\""),
            "{text}"
        );
        let (few, more) = ("O:BAD:(A;ID;FA;;;SY)", "O:BAD:(A;;FA;;;SY)(A;;FR;;;WD)");
        assert!(grants_no_more(few, more) && !grants_no_more(more, few));
        assert!(!grants_no_more(few, "O:BAD:(D;;FA;;;WD)(A;;FA;;;SY)") && !grants_no_more("O:BA", more));
        let denied = format!("O:{OWN}D:(D;;FA;;;WD)(A;;FA;;;{OWN})(A;OIIO;FA;;;WD)");
        assert_eq!(untrusted(&denied, OWN, None), None, "denied, or for what is made in it: not a right on this file");
    }
}
