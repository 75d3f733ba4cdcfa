//! Data as lists of words, in files.

use crate::kernel::ArrayId;

/// Reads words one after the other. Every read returns `None` after the last word, or if a word has no meaning there.
pub struct Reader<'w>(pub &'w [u64]);

impl Reader<'_> {
    pub fn word(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub fn number(&mut self) -> Option<usize> {
        self.word()?.try_into().ok()
    }

    /// The number of an array.
    pub fn array(&mut self) -> Option<ArrayId> {
        let number = self.number()?;
        (number <= ArrayId::MAX_INDEX).then(|| ArrayId::new(number))
    }

    /// A list: its length, then its items.
    pub fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let n = self.number()?;
        // The length may be wrong, so no memory is reserved for it.
        let mut items = vec![];
        for _ in 0..n {
            items.push(item(self)?);
        }
        Some(items)
    }

    /// A text: its length in bytes, then these, eight in a word.
    pub fn text(&mut self) -> Option<String> {
        let n = self.number()?;
        let (words, rest) = self.0.split_at_checked(n.div_ceil(8))?;
        self.0 = rest;
        let bytes = words.iter().flat_map(|w| w.to_le_bytes()).take(n).collect();
        String::from_utf8(bytes).ok()
    }
}

/// Writes a text for [`Reader::text`].
pub fn text(out: &mut Vec<u64>, text: &str) {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    out.push(text.len() as u64);
    out.extend(text.as_bytes().chunks(8).map(word));
}

/// Writes a list for [`Reader::list`].
pub fn list<T>(out: &mut Vec<u64>, items: impl ExactSizeIterator<Item = T>, mut item: impl FnMut(&mut Vec<u64>, T)) {
    out.push(items.len() as u64);
    items.for_each(|x| item(out, x));
}
