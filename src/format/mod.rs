//! The structures on disk, one file per structure. Pure: nothing here touches a file, the environment or the clock.
//!
//! ```
//! use jlfix::format::{compound::Compound, destlist::DestList, link};
//!
//! let data = std::fs::read("samples/AutomaticDestinations/9b9cdc69c1c24e2b.automaticDestinations-ms")?;
//! let compound = Compound::parse(&data, &jlfix::Limits::default())?;
//! let dest_list = DestList::decode(&compound.stream("DestList").expect("a healthy list").data)?;
//! let newest = &dest_list.entries[0];
//! let link = link::parse(&compound.stream(&newest.stream_name()).expect("its link").data, Default::default())?;
//! assert_eq!(link.target().unwrap(), newest.path.to_string());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod checksum;
pub mod compound;
pub mod custom;
pub mod destlist;
pub mod fat_time;
pub mod guid;
pub mod known_folder;
pub mod link;
pub mod problem;
pub mod property_store;
pub mod shell_item;
pub mod text;
pub mod time;
