//! How a link's console window is to look (MS-SHLLINK 2.5.1).

use crate::bytes::{Bytes, Short};
use crate::format::text::{Text, Utf16};

/// The console of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Console<'a> {
    /// Colours of the text: foreground in the low four bits, background in the next.
    pub fill: u16,
    /// The same for popups.
    pub popup_fill: u16,
    /// Columns and rows of the screen buffer.
    pub buffer: [i16; 2],
    /// Columns and rows of the window.
    pub window: [i16; 2],
    /// Where the window is, in pixels; not meant if `auto_position`.
    pub origin: [i16; 2],
    /// The size of the font: width in the low 16 bits, height in the high ones.
    pub font_size: u32,
    /// The family and pitch of the font.
    pub font_family: u32,
    /// The weight of the font: 400 is regular, 700 bold.
    pub font_weight: u32,
    /// The name of the font.
    pub face_name: Option<Text<'a>>,
    /// The size of the cursor in percent.
    pub cursor_size: u32,
    /// True for the whole screen.
    pub full_screen: bool,
    /// True if text is selected with the mouse.
    pub quick_edit: bool,
    /// True if text is inserted, not overwritten.
    pub insert_mode: bool,
    /// True if Windows places the window.
    pub auto_position: bool,
    /// Commands in a history.
    pub history_size: u32,
    /// How many histories there are.
    pub histories: u32,
    /// True if a history holds no command twice.
    pub history_without_duplicates: bool,
    /// The sixteen colours, `0x00BBGGRR` each.
    pub colors: [u32; 16],
}

impl<'a> Console<'a> {
    pub(super) fn read(bytes: &mut Bytes<'a>) -> Result<Self, Short> {
        let (fill, popup_fill) = (bytes.u16("console fill")?, bytes.u16("console popup fill")?);
        let mut pair =
            |what| -> Result<[i16; 2], Short> { Ok([bytes.u16(what)?.cast_signed(), bytes.u16(what)?.cast_signed()]) };
        let (buffer, window, origin) =
            (pair("console buffer size")?, pair("console window size")?, pair("console window origin")?);
        bytes.u64("console unused")?;
        let (font_size, font_family) = (bytes.u32("console font size")?, bytes.u32("console font family")?);
        let font_weight = bytes.u32("console font weight")?;
        let face_name = Text::Wide(Utf16(bytes.take("console face name", 64)?).until_nul()).non_empty();
        let cursor_size = bytes.u32("console cursor size")?;
        let mut flag = |what| bytes.u32(what).map(|flag| flag != 0);
        let (full_screen, quick_edit) = (flag("console full screen")?, flag("console quick edit")?);
        let (insert_mode, auto_position) = (flag("console insert mode")?, flag("console auto position")?);
        let (history_size, histories) = (bytes.u32("console history size")?, bytes.u32("console histories")?);
        let history_without_duplicates = bytes.u32("console history without duplicates")? != 0;
        let mut colors = [0; 16];
        for color in &mut colors {
            *color = bytes.u32("console color")?;
        }
        Ok(Self {
            fill,
            popup_fill,
            buffer,
            window,
            origin,
            font_size,
            font_family,
            font_weight,
            face_name,
            cursor_size,
            full_screen,
            quick_edit,
            insert_mode,
            auto_position,
            history_size,
            histories,
            history_without_duplicates,
            colors,
        })
    }
}
