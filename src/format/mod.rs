//! The structures on disk, a file each. Pure: nothing here touches a file, the environment or the clock.

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
