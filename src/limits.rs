//! Bounds on what a file may cost, as one value that is passed down.

/// What reading one file may take. The defaults fit the largest lists that are known, many times over.
///
/// ```
/// use jlfix::Limits;
///
/// let limits = Limits::default().file_size(16 << 20).deleted(1000);
/// assert_eq!((limits.file_size, limits.deleted), (16 << 20, 1000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The largest file that is read, in bytes. Default 256 MiB.
    pub file_size: u64,
    /// How many bytes of streams one file may hand out, as a multiple of its size. Streams of a healthy
    /// file share no sector, so 1 would do; damaged ones overlap, and this keeps that from multiplying.
    /// Default 4.
    pub handed_out_per_byte: u64,
    /// How many bytes may be examined in attempts to repair a damaged file, besides the passes that
    /// go through the whole file once. Default 64 MiB; 0 repairs nothing that takes an attempt.
    pub salvage_work: u64,
    /// Most deleted entries, links and streams that are reported for one file. Far more than a list that Windows has kept can
    /// have left behind. Default 65,536.
    pub deleted: usize,
}

impl Limits {
    /// How many bytes of streams a file of `size` bytes may hand out.
    pub fn handed_out(&self, size: usize) -> u64 {
        (size as u64).saturating_mul(self.handed_out_per_byte)
    }

    /// Sets [`file_size`](Self#structfield.file_size).
    #[must_use]
    pub fn file_size(mut self, file_size: u64) -> Self {
        self.file_size = file_size;
        self
    }

    /// Sets [`handed_out_per_byte`](Self#structfield.handed_out_per_byte).
    #[must_use]
    pub fn handed_out_per_byte(mut self, handed_out_per_byte: u64) -> Self {
        self.handed_out_per_byte = handed_out_per_byte;
        self
    }

    /// Sets [`salvage_work`](Self#structfield.salvage_work).
    #[must_use]
    pub fn salvage_work(mut self, salvage_work: u64) -> Self {
        self.salvage_work = salvage_work;
        self
    }

    /// Sets [`deleted`](Self#structfield.deleted).
    #[must_use]
    pub fn deleted(mut self, deleted: usize) -> Self {
        self.deleted = deleted;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { file_size: 256 << 20, handed_out_per_byte: 4, salvage_work: 64 << 20, deleted: 1 << 16 }
    }
}
