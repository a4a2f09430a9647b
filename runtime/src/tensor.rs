//! Tensors as calls see them: contiguous row-major bytes with an element type and a shape.

/// How an element is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// One byte, 0 or 1.
    Bool,
    I32,
    I64,
    F32,
    F64,
}

impl Element {
    /// Bytes of one element; also its alignment.
    pub fn size(self) -> usize {
        match self {
            Element::Bool => 1,
            Element::I32 | Element::F32 => 4,
            Element::I64 | Element::F64 => 8,
        }
    }

    /// As messages write it.
    pub fn name(self) -> &'static str {
        match self {
            Element::Bool => "bool",
            Element::I32 => "i32",
            Element::I64 => "i64",
            Element::F32 => "f32",
            Element::F64 => "f64",
        }
    }

    pub(crate) fn code(self) -> u8 {
        match self {
            Element::Bool => 0,
            Element::I32 => 1,
            Element::I64 => 2,
            Element::F32 => 3,
            Element::F64 => 4,
        }
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        [
            Element::Bool,
            Element::I32,
            Element::I64,
            Element::F32,
            Element::F64,
        ]
        .into_iter()
        .find(|e| e.code() == code)
    }
}

/// A tensor to read.
#[derive(Clone, Copy, Debug)]
pub struct TensorRef<'a> {
    pub element: Element,
    pub shape: &'a [u64],
    /// Row-major, aligned to the element.
    pub data: &'a [u8],
}

/// A tensor to write. Its shape is the slot's: extents that are known only at run time stand at their bounds.
#[derive(Debug)]
pub struct TensorMut<'a> {
    pub element: Element,
    pub data: &'a mut [u8],
}

/// Bytes aligned for any element.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    words: Vec<u64>,
    bytes: usize,
}

impl Buffer {
    /// `bytes` zeros.
    pub fn zeroed(bytes: usize) -> Self {
        Buffer {
            words: vec![0; bytes.div_ceil(8)],
            bytes,
        }
    }

    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: every byte of a u64 is initialised and may be read as u8; `bytes` ≤ 8 · words.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.bytes) }
    }

    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and any bytes make valid u64s.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.bytes) }
    }
}

impl From<&[u8]> for Buffer {
    fn from(data: &[u8]) -> Self {
        let mut buffer = Buffer::zeroed(data.len());
        buffer.as_bytes_mut().copy_from_slice(data);
        buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_sized() {
        let buffer = Buffer::from([1u8, 2, 3].as_slice());
        assert_eq!(buffer.as_bytes(), [1, 2, 3]);
        assert_eq!(buffer.as_bytes().as_ptr().align_offset(8), 0);
    }
}
