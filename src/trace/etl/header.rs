//! The first event of an ETL file (`TRACE_LOGFILE_HEADER`): the clock of its times and what was lost.

use super::event::{Class, Event};
use crate::bytes::{Bytes, Short};

/// 100 ns from 1601 (FILETIME) to 1970.
const UNIX_EPOCH: i128 = 116_444_736_000_000_000;

/// What is used of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogHeader {
    /// Events that did not fit into the buffers.
    pub events_lost: u32,
    /// Buffers that could not be written.
    pub buffers_lost: u32,
    /// Ticks of the first event.
    first: u64,
    /// FILETIME of the first event.
    start: u64,
    /// Ticks per second.
    frequency: u64,
}

impl LogHeader {
    /// The header in `event`. `None` if it is another event.
    pub fn parse(event: &Event<'_>) -> Option<Result<Self, Short>> {
        (event.class == Class::File && event.kind == 0).then(|| Self::fields(event))
    }

    fn fields(event: &Event<'_>) -> Result<Self, Short> {
        let mut bytes = Bytes::new(event.payload);
        bytes.take("BufferSize to PointerSize", 48)?;
        let events_lost = bytes.u32("EventsLost")?;
        let megahertz = bytes.u32("CpuSpeedInMHz")?;
        // Two pointers to names, then TIME_ZONE_INFORMATION of 172 bytes with padding to 176.
        bytes.take("LoggerName to TimeZone", if event.wide { 16 + 176 } else { 8 + 176 })?;
        bytes.u64("BootTime")?;
        let counter = bytes.u64("PerfFreq")?;
        let start = bytes.u64("StartTime")?;
        let clock = bytes.u32("ReservedFlags")?;
        let buffers_lost = bytes.u32("BuffersLost")?;
        let frequency = match clock {
            2 => 10_000_000,
            3 => u64::from(megahertz).saturating_mul(1_000_000),
            _ => counter,
        };
        Ok(Self { events_lost, buffers_lost, first: event.time, start, frequency: frequency.max(1) })
    }

    /// Nanoseconds from 1970 to `ticks`.
    pub fn nanoseconds(&self, ticks: u64) -> Option<i64> {
        let since = i128::from(ticks).checked_sub(i128::from(self.first))?;
        let since = since.checked_mul(1_000_000_000)?.checked_div(i128::from(self.frequency))?;
        let start = i128::from(self.start).checked_sub(UNIX_EPOCH)?.checked_mul(100)?;
        i64::try_from(start.checked_add(since)?).ok()
    }

    /// Nanoseconds that `ticks` are.
    pub fn duration(&self, ticks: u64) -> Option<u64> {
        let nanoseconds = u128::from(ticks).checked_mul(1_000_000_000)?.checked_div(u128::from(self.frequency))?;
        u64::try_from(nanoseconds).ok()
    }
}
