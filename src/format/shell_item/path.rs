//! The path that a list of items spells: names joined by backslashes, from the desktop down.

use std::borrow::Cow;

use super::{ExtensionKind, Item, ItemList, Kind, class_name, control_panel_category};
use crate::format::guid::Guid;
use crate::format::property_store::{APP_USER_MODEL_ID, ITEM_NAME_DISPLAY, PropertyStore};
use crate::format::text::Text;

/// The name of a class, or the class itself as Windows writes one.
fn class_or_braces(class: Guid) -> Cow<'static, str> {
    match class_name(class) {
        Some(name) => Cow::Borrowed(name),
        None => Cow::Owned(format!("{{{}}}", class.to_string().to_uppercase())),
    }
}

fn store_name<'a>(store: &PropertyStore<'a>) -> Option<Cow<'a, str>> {
    store.text(ITEM_NAME_DISPLAY).or_else(|| store.text(APP_USER_MODEL_ID)).map(Text::decode)
}

impl<'a> Item<'a> {
    /// What the item adds to a path; `None` if it is not known.
    pub fn name(&self) -> Option<Cow<'a, str>> {
        Some(match &self.kind {
            Kind::Root { class, .. } | Kind::Folder { class } | Kind::ControlPanelItem { class } => {
                class_or_braces(*class)
            }
            Kind::Game { id } => class_or_braces(*id),
            Kind::Volume { name, .. } => {
                let name = name.decode();
                match name.strip_suffix('\\') {
                    Some(letter) => Cow::Owned(letter.to_owned()),
                    None => name,
                }
            }
            Kind::File(_) | Kind::UsersFile { .. } => self.long_name()?.decode(),
            Kind::Delegate { folder, .. } => class_or_braces(*folder),
            Kind::Network(network) => network.location.decode(),
            Kind::Uri(_) => self.uri()?.decode(),
            Kind::ControlPanelCategory(category) => Cow::Borrowed(control_panel_category(*category)?),
            Kind::ControlPanelFile { path, name, .. } => name.non_empty().or_else(|| path.non_empty())?.decode(),
            Kind::Properties { store, .. } => store_name(store)?,
            Kind::PortableDevice(device) => device.name.decode(),
            Kind::PortableVolume(volume) => volume.name.decode(),
            Kind::PortableFile(file) => file.name.decode(),
            Kind::Archived(archived) => archived.name.decode(),
            Kind::Merged(items) => items.first()?.name()?,
            Kind::Unknown => return None,
        })
    }

    /// The URI that the item is.
    pub fn uri(&self) -> Option<Text<'a>> {
        let Kind::Uri(uri) = &self.kind else { return None };
        uri.text.or_else(|| {
            self.extensions.iter().find_map(|extension| match extension.kind {
                ExtensionKind::Uri(text) => text,
                _ => None,
            })
        })
    }
}

impl ItemList<'_> {
    /// The path that the items spell, such as `This PC\C:\Users`; a server or a share starts a new path, as `\\server\share`. An
    /// item without a known name is written as `?`. `None` for the desktop itself, which has no item.
    pub fn path(&self) -> Option<String> {
        path(&self.items)
    }

    /// What the items point at, in the shortest form: a URI, a path on a drive or on a server, otherwise the
    /// whole path.
    pub fn target(&self) -> Option<String> {
        if let Some(uri) = self.items.last().and_then(Item::uri) {
            return Some(uri.to_string());
        }
        // What is opened is the file; the path has its name in the Control Panel.
        if let Some(Kind::ControlPanelFile { path, .. }) = self.items.last().map(|item| &item.kind) {
            return path.non_empty().map(|path| path.to_string()).or_else(|| self.path());
        }
        let path = self.path()?;
        let [first, second, ..] = &self.items[..] else { return Some(path) };
        let is_drive = matches!((&first.kind, &second.kind), (Kind::Root { .. }, Kind::Volume { .. }));
        let Some((_, inside)) = path.split_once('\\').filter(|_| is_drive) else { return Some(path) };
        // A drive alone is its root.
        Some(if self.items.len() == 2 { format!("{inside}\\") } else { inside.to_owned() })
    }
}

/// [`ItemList::path`] of items that were read already.
pub(crate) fn path(items: &[Item<'_>]) -> Option<String> {
    let mut path: Option<String> = None;
    for item in items {
        // Nearly all are files, whose names need no room of their own.
        if let (Some(path), Some(name)) = (&mut path, item.long_name()) {
            path.push('\\');
            name.push_to(path);
            continue;
        }
        let name = item.name().unwrap_or(Cow::Borrowed("?"));
        match &mut path {
            Some(path) if !name.starts_with(r"\\") => {
                path.push('\\');
                path.push_str(&name);
            }
            _ => path = Some(name.into_owned()),
        }
    }
    path
}
