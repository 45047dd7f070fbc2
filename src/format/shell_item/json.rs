//! Items as JSON: an object each, with the fields of its type.

use serde::{Serialize, Serializer, ser::SerializeStruct};

use super::{Extension, ExtensionKind, FileEntry, Item, Kind, class_name};
use crate::format::guid::Guid;
use crate::format::text::{Ascii, hex, hex_number};

/// The name of what an item is.
fn type_word(kind: &Kind<'_>) -> &'static str {
    match kind {
        Kind::Root { .. } => "root",
        Kind::Folder { .. } => "known_folder",
        Kind::Volume { .. } => "volume",
        Kind::File(FileEntry { is_folder: true, .. }) => "folder",
        Kind::File(_) => "file",
        Kind::UsersFile { .. } => "users_file",
        Kind::Delegate { .. } => "delegate",
        Kind::Network(_) => "network",
        Kind::Uri(_) => "uri",
        Kind::ControlPanelCategory(_) => "control_panel_category",
        Kind::ControlPanelItem { .. } => "control_panel_item",
        Kind::ControlPanelFile { .. } => "control_panel_file",
        Kind::Properties { .. } => "properties",
        Kind::Game { .. } => "game",
        Kind::PortableDevice(_) => "portable_device",
        Kind::PortableVolume(_) => "portable_volume",
        Kind::PortableFile(_) => "portable_file",
        Kind::Archived(_) => "archived",
        Kind::Merged(_) => "merged",
        Kind::Unknown => "unknown",
    }
}

fn class_text(class: u8) -> Ascii<4> {
    let mut text = Ascii(*b"0x00");
    text.hex(2, [class]);
    text
}

fn class_fields<M: SerializeStruct>(map: &mut M, class: Guid) -> Result<(), M::Error> {
    map.serialize_field("class_id", &class)?;
    map.serialize_field("class_name", &class_name(class))
}

fn file_fields<M: SerializeStruct>(map: &mut M, item: &Item<'_>, entry: &FileEntry<'_>) -> Result<(), M::Error> {
    let extension = item.file_extension();
    let reference = extension.and_then(|file| file.reference);
    map.serialize_field("is_folder", &entry.is_folder)?;
    map.serialize_field("short_name", &item.short_name())?;
    map.serialize_field("localized_name", &extension.and_then(|file| file.localized_name))?;
    map.serialize_field("file_size", &entry.file_size)?;
    map.serialize_field("attributes", &entry.attributes)?;
    map.serialize_field("modified", &entry.modified)?;
    map.serialize_field("created", &extension.map(|file| file.created))?;
    map.serialize_field("accessed", &extension.map(|file| file.accessed))?;
    map.serialize_field("mft_entry", &reference.map(|reference| reference.entry()))?;
    map.serialize_field("mft_sequence", &reference.map(|reference| reference.sequence()))
}

/// `type`, `class` (the class type indicator), `offset`, `size`, `name`, then what the type has; an unknown item as `data` in hex.
impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_struct("Item", 16)?;
        map.serialize_field("type", type_word(&self.kind))?;
        map.serialize_field("class", &class_text(self.class()))?;
        map.serialize_field("offset", &self.offset)?;
        map.serialize_field("size", &self.data.len())?;
        map.serialize_field("name", &self.name())?;
        match &self.kind {
            Kind::Root { sort_index, class } => {
                map.serialize_field("sort_index", sort_index)?;
                class_fields(&mut map, *class)?;
            }
            Kind::Folder { class } | Kind::ControlPanelItem { class } | Kind::Game { id: class } => {
                class_fields(&mut map, *class)?;
            }
            Kind::Volume { class, .. } => map.serialize_field("class_id", class)?,
            Kind::File(entry) => file_fields(&mut map, self, entry)?,
            Kind::UsersFile { entry, folder } => {
                file_fields(&mut map, self, entry)?;
                class_fields(&mut map, *folder)?;
            }
            Kind::Delegate { data, folder } => {
                class_fields(&mut map, *folder)?;
                map.serialize_field("data", &hex(data))?;
            }
            Kind::Network(network) => {
                map.serialize_field("level", &network.level)?;
                map.serialize_field("description", &network.description)?;
                map.serialize_field("comments", &network.comments)?;
            }
            Kind::Uri(uri) => {
                map.serialize_field("time", &uri.time)?;
                map.serialize_field("host", &uri.host)?;
                map.serialize_field("user", &uri.user)?;
                map.serialize_field("password", &uri.password)?;
            }
            Kind::ControlPanelCategory(category) => map.serialize_field("category", category)?,
            Kind::ControlPanelFile { path, comments, .. } => {
                map.serialize_field("path", path)?;
                map.serialize_field("comments", comments)?;
            }
            Kind::Properties { signature, store, items } => {
                map.serialize_field("signature", &hex_number(*signature))?;
                map.serialize_field("properties", &store.properties)?;
                map.serialize_field("items", items)?;
            }
            Kind::PortableDevice(device) => map.serialize_field("device_path", &device.device_path)?,
            Kind::PortableVolume(volume) => {
                map.serialize_field("id", &volume.id)?;
                map.serialize_field("file_system", &volume.file_system)?;
            }
            Kind::PortableFile(file) => {
                map.serialize_field("id", &file.id)?;
                map.serialize_field("content_type", &file.content_type)?;
                map.serialize_field("modified", &file.modified)?;
                map.serialize_field("created", &file.created)?;
            }
            Kind::Archived(archived) => {
                map.serialize_field("folder", &archived.folder)?;
                map.serialize_field("modified", &archived.modified)?;
            }
            Kind::Merged(items) => map.serialize_field("items", items)?,
            Kind::Unknown => map.serialize_field("data", &hex(self.data))?,
        }
        map.serialize_field("extensions", &self.extensions)?;
        map.end()
    }
}

/// `signature`, `version`, `offset` and `size`, then what the block says; what is in the item's own fields is not reported again,
/// and an unknown block has its bytes as `data` in hex.
impl Serialize for Extension<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_struct("Extension", 8)?;
        map.serialize_field("signature", &hex_number(self.signature))?;
        map.serialize_field("version", &self.version)?;
        map.serialize_field("offset", &self.offset)?;
        map.serialize_field("size", &self.data.len())?;
        match &self.kind {
            ExtensionKind::File(_) => {}
            ExtensionKind::Class(class) => class_fields(&mut map, *class)?,
            ExtensionKind::FolderType(folder, view) => {
                map.serialize_field("folder_type", folder)?;
                map.serialize_field("folder_view", view)?;
            }
            ExtensionKind::UserName(name) => map.serialize_field("user_name", name)?,
            ExtensionKind::FileType(name) => map.serialize_field("file_type", name)?,
            ExtensionKind::Program(name) => map.serialize_field("program", name)?,
            ExtensionKind::PinType(name) => map.serialize_field("pin_type", name)?,
            ExtensionKind::Times([created, modified, accessed]) => {
                map.serialize_field("created", created)?;
                map.serialize_field("modified", modified)?;
                map.serialize_field("accessed", accessed)?;
            }
            ExtensionKind::Uri(uri) => map.serialize_field("uri", uri)?,
            ExtensionKind::Items(items) => map.serialize_field("items", items)?,
            ExtensionKind::Properties(store) => map.serialize_field("properties", &store.properties)?,
            ExtensionKind::Deleted { time, original_path, bin_path } => {
                map.serialize_field("deleted", time)?;
                map.serialize_field("original_path", original_path)?;
                map.serialize_field("bin_path", bin_path)?;
            }
            ExtensionKind::Unknown => map.serialize_field("data", &hex(self.data))?,
        }
        map.end()
    }
}
