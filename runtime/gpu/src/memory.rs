// SPDX-License-Identifier: Apache-2.0
//! Device buffers that are mapped into host memory.

use ash::vk;

/// A mapped buffer.
pub(crate) struct Buffer {
    pub(crate) buffer: vk::Buffer,
    pub(crate) memory: vk::DeviceMemory,
    /// Its address on the device.
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    /// The host address of its first byte.
    pub(crate) mapped: *mut u8,
}

/// The host address of a device address, if one buffer contains the `length` bytes that start there.
pub(crate) fn find(buffers: &[Buffer], address: u64, length: usize) -> Option<*mut u8> {
    let length = u64::try_from(length).ok()?;
    let holds = |buffer: &&Buffer| {
        let offset = address.checked_sub(buffer.address);
        let end = offset.and_then(|offset| offset.checked_add(length));
        end.is_some_and(|end| end <= buffer.bytes)
    };
    let buffer = buffers.iter().find(holds)?;
    let offset = usize::try_from(address - buffer.address).ok()?;
    // Within the mapping, as the offset is within the buffer.
    Some(buffer.mapped.wrapping_add(offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_outside_of_buffers_are_not_found() {
        let mut bytes = [0_u8; 16];
        let buffers = [Buffer {
            buffer: vk::Buffer::null(),
            memory: vk::DeviceMemory::null(),
            address: 1000,
            bytes: 16,
            mapped: bytes.as_mut_ptr(),
        }];
        assert_eq!(find(&buffers, 1004, 12), Some(bytes.as_mut_ptr().wrapping_add(4)));
        assert_eq!(find(&buffers, 1004, 13), None);
        assert_eq!(find(&buffers, 999, 1), None);
        assert_eq!(find(&buffers, u64::MAX, 2), None);
    }
}
