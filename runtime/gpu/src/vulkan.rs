// SPDX-License-Identifier: Apache-2.0
//! A Vulkan device: buffers with device addresses, and launches in call order.
//!
//! A launch is recorded in a command buffer, with a barrier after it; the buffer is submitted when the host reads or writes
//! memory, or when it is full. The arguments of a launch are in a separate buffer, whose address is the push constant.

use crate::DeviceError;
use crate::memory::{Buffer, find};
use ash::vk;
use skript_runtime::device::{Device, DeviceChoice, Launch};
use std::ffi::{CStr, CString};

/// Size in bytes of the buffer for arguments of launches that are not submitted yet.
const ARGUMENTS: u64 = 1 << 20;

/// The total number of loop iterations after which Mesa's lavapipe terminates the loops of a thread.
const ITERATIONS_OF_LLVMPIPE: i64 = 65_535;

/// Maximum number of launches in one submission.
const LAUNCHES: usize = 1024;

/// A device with the kernels of a model.
pub struct Vulkan {
    /// Destroyed after everything that [`Drop`] destroys.
    _instance: Instance,
    device: ash::Device,
    queue: vk::Queue,
    commands: vk::CommandBuffer,
    pool: vk::CommandPool,
    fence: vk::Fence,
    memory_type: u32,
    shader: vk::ShaderModule,
    layout: vk::PipelineLayout,
    kernels: Vec<CString>,
    pipelines: Vec<Option<vk::Pipeline>>,
    buffers: Vec<Buffer>,
    /// Bytes of arguments in use.
    arguments: u64,
    /// Recorded launches.
    launches: usize,
    /// Command buffers of repeated launches, with the addresses of their arguments; `None` where they were discarded.
    repeated: Vec<Option<(vk::CommandBuffer, u64)>>,
    number: usize,
    name: String,
    /// The number of loop iterations after which the driver terminates a thread; `None` if there is no limit.
    iterations: Option<i64>,
}

/// A Vulkan instance, with the loaded library.
struct Instance {
    instance: ash::Instance,
    /// Unloaded after the instance is destroyed.
    _entry: ash::Entry,
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: its devices are gone, and it is used no more.
        unsafe { self.instance.destroy_instance(None) };
    }
}

// SAFETY: handles and mapped memory may be used by any thread, one at a time, which exclusive borrows guarantee.
unsafe impl Send for Vulkan {}

fn failed(what: &'static str) -> impl Fn(vk::Result) -> DeviceError {
    move |error| DeviceError::Driver { what, error: error.to_string() }
}

/// The error of a driver that returns an empty list of the objects that it makes.
fn nothing_made(what: &'static str) -> DeviceError {
    DeviceError::Driver { what, error: "the driver returned nothing".to_owned() }
}

fn missing(error: &dyn std::fmt::Display) -> DeviceError {
    DeviceError::Missing { api: "Vulkan", reason: error.to_string() }
}

/// Creates a Vulkan instance.
fn instance() -> Result<Instance, DeviceError> {
    // SAFETY: the loader of the system is a library that can be loaded; `Drop` destroys the instance.
    unsafe {
        let entry = ash::Entry::load().map_err(|e| missing(&e))?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
        let information = vk::InstanceCreateInfo::default().application_info(&application);
        let instance = entry.create_instance(&information, None);
        Ok(Instance { instance: instance.map_err(|e| missing(&e))?, _entry: entry })
    }
}

/// The number and the name of the first device that is a GPU; software drivers do not count.
///
/// # Errors
/// [`DeviceError`] with the reason if no device is a GPU.
pub fn first_gpu() -> Result<(usize, String), DeviceError> {
    let instance = instance()?;
    let instance = &instance.instance;
    // SAFETY: the instance is alive.
    let devices = unsafe { instance.enumerate_physical_devices() };
    let devices = devices.map_err(failed("listing devices"))?;
    for (number, device) in devices.iter().enumerate() {
        // SAFETY: the device is of this instance.
        let properties = unsafe { instance.get_physical_device_properties(*device) };
        let kind = properties.device_type;
        if kind == vk::PhysicalDeviceType::DISCRETE_GPU || kind == vk::PhysicalDeviceType::INTEGRATED_GPU {
            let name = properties.device_name_as_c_str().unwrap_or(c"?");
            return Ok((number, name.to_string_lossy().into_owned()));
        }
    }
    Err(missing(&"no device is a GPU"))
}

impl Vulkan {
    /// Opens device `number` for the kernels of a SPIR-V module.
    ///
    /// # Errors
    /// [`DeviceError`] if there is no driver or no such device, or if it lacks features.
    pub fn open(number: usize, code: &[u8], kernels: &[String]) -> Result<Vulkan, DeviceError> {
        let instance = instance()?;
        // SAFETY: the instance is alive; handles are used as Vulkan's specification says, and destroyed by `Drop` in the
        // reverse order.
        unsafe { Vulkan::on(instance, number, code, kernels) }
    }

    /// # Safety
    /// The instance is alive.
    unsafe fn on(
        opened: Instance,
        number: usize,
        code: &[u8],
        kernels: &[String],
    ) -> Result<Vulkan, DeviceError> {
        let instance = &opened.instance;
        // SAFETY: as in `open`.
        unsafe {
            let devices = instance.enumerate_physical_devices().map_err(failed("listing devices"))?;
            let physical = devices.get(number).copied().ok_or(DeviceError::Number {
                api: "Vulkan",
                wanted: number,
                found: devices.len(),
            })?;
            let mut driver = vk::PhysicalDeviceDriverProperties::default();
            let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
            instance.get_physical_device_properties2(physical, &mut properties);
            let properties = properties.properties;
            let is_limited = driver.driver_id == vk::DriverId::MESA_LLVMPIPE;
            let name = properties.device_name_as_c_str().unwrap_or(c"?");
            let name = name.to_string_lossy().into_owned();
            let lacks = |lacks| DeviceError::Features { device: name.clone(), lacks };
            if properties.api_version < vk::API_VERSION_1_2 {
                return Err(lacks("Vulkan 1.2"));
            }
            let families = instance.get_physical_device_queue_family_properties(physical);
            let computes =
                |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::COMPUTE);
            let family = families.iter().position(computes);
            let family = family.and_then(|family| u32::try_from(family).ok());
            let family = family.ok_or_else(|| lacks("a queue for computations"))?;
            let (mut eleven, mut twelve) = (
                vk::PhysicalDeviceVulkan11Features::default(),
                vk::PhysicalDeviceVulkan12Features::default(),
            );
            let mut features =
                vk::PhysicalDeviceFeatures2::default().push_next(&mut eleven).push_next(&mut twelve);
            instance.get_physical_device_features2(physical, &mut features);
            let features = features.features;
            for (present, what) in [
                (twelve.buffer_device_address, "addresses of buffers"),
                (twelve.shader_int8, "8-bit integers"),
                (features.shader_int64, "64-bit integers"),
            ] {
                if present == vk::FALSE {
                    return Err(lacks(what));
                }
            }
            eleven.p_next = std::ptr::null_mut();
            twelve.p_next = std::ptr::null_mut();
            let priorities = [1.0];
            let queues = [vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(&priorities)];
            let information = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_features(&features)
                .push_next(&mut eleven)
                .push_next(&mut twelve);
            let device =
                instance.create_device(physical, &information, None).map_err(failed("opening the device"))?;
            let memory = instance.get_physical_device_memory_properties(physical);
            let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let types = memory.memory_types_as_slice();
            let with = |flags: vk::MemoryPropertyFlags| {
                let position = types.iter().position(|t| t.property_flags.contains(flags));
                position.and_then(|position| u32::try_from(position).ok())
            };
            let memory_type = with(wanted | vk::MemoryPropertyFlags::DEVICE_LOCAL)
                .or_else(|| with(wanted))
                .ok_or_else(|| lacks("memory that the host can access"));
            let mut made = Vulkan {
                _instance: opened,
                queue: device.get_device_queue(family, 0),
                commands: vk::CommandBuffer::null(),
                pool: vk::CommandPool::null(),
                fence: vk::Fence::null(),
                memory_type: 0,
                shader: vk::ShaderModule::null(),
                layout: vk::PipelineLayout::null(),
                pipelines: vec![None; kernels.len()],
                kernels: Vec::new(),
                buffers: Vec::new(),
                arguments: 0,
                launches: 0,
                repeated: Vec::new(),
                number,
                name,
                iterations: is_limited.then_some(ITERATIONS_OF_LLVMPIPE),
                device,
            };
            made.fill(family, memory_type, code, kernels)?;
            Ok(made)
        }
    }

    /// # Safety
    /// Called once.
    unsafe fn fill(
        &mut self,
        family: u32,
        memory_type: Result<u32, DeviceError>,
        code: &[u8],
        kernels: &[String],
    ) -> Result<(), DeviceError> {
        self.memory_type = memory_type?;
        let names = kernels.iter().map(|name| CString::new(name.as_str()));
        self.kernels = names.collect::<Result<_, _>>().unwrap_or_default();
        let (words, _) = code.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        // SAFETY: as in `open`.
        unsafe {
            let information = vk::CommandPoolCreateInfo::default()
                .queue_family_index(family)
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            let pool = self.device.create_command_pool(&information, None);
            self.pool = pool.map_err(failed("making commands"))?;
            self.commands = self.command_buffer()?;
            let fence = self.device.create_fence(&vk::FenceCreateInfo::default(), None);
            self.fence = fence.map_err(failed("making a fence"))?;
            let ranges =
                [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(8)];
            let information = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
            let layout = self.device.create_pipeline_layout(&information, None);
            self.layout = layout.map_err(failed("making a layout"))?;
            if !words.is_empty() {
                let information = vk::ShaderModuleCreateInfo::default().code(&words);
                let shader = self.device.create_shader_module(&information, None);
                self.shader = shader.map_err(failed("loading kernels"))?;
            }
        }
        // The first buffer holds the arguments.
        self.buffer(ARGUMENTS)?;
        self.begin()
    }

    /// The name of the device.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn command_buffer(&self) -> Result<vk::CommandBuffer, DeviceError> {
        let information =
            vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        // SAFETY: the pool exists, and frees its command buffers when it is destroyed.
        let commands = unsafe { self.device.allocate_command_buffers(&information) };
        let commands = commands.map_err(failed("making commands"))?;
        commands.first().copied().ok_or_else(|| nothing_made("making commands"))
    }

    fn begin(&mut self) -> Result<(), DeviceError> {
        let once = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        let information = vk::CommandBufferBeginInfo::default().flags(once);
        self.arguments = 0;
        self.launches = 0;
        // SAFETY: the command buffer is not in use.
        let begun = unsafe { self.device.begin_command_buffer(self.commands, &information) };
        begun.map_err(failed("recording commands"))
    }

    /// Submits the recorded launches, and waits for their completion.
    fn flush(&mut self) -> Result<(), DeviceError> {
        if self.launches == 0 {
            return Ok(());
        }
        // SAFETY: the command buffer is recorded, and not in use.
        unsafe {
            let ended = self.device.end_command_buffer(self.commands);
            ended.map_err(failed("recording commands"))?;
            self.submit(self.commands)?;
            let reset = vk::CommandBufferResetFlags::empty();
            let reset = self.device.reset_command_buffer(self.commands, reset);
            reset.map_err(failed("recording commands"))?;
        }
        self.begin()
    }

    /// Submits a command buffer, and waits for its completion.
    ///
    /// # Safety
    /// It is recorded, and not in use.
    unsafe fn submit(&mut self, commands: vk::CommandBuffer) -> Result<(), DeviceError> {
        let commands = [commands];
        let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
        // SAFETY: as promised; the fence is not in use.
        unsafe {
            self.device
                .queue_submit(self.queue, &submits, self.fence)
                .map_err(failed("submitting commands"))?;
            self.device
                .wait_for_fences(&[self.fence], true, u64::MAX)
                .map_err(failed("waiting for the device"))?;
            self.device.reset_fences(&[self.fence]).map_err(failed("waiting for the device"))
        }
    }

    /// The host address of `bytes` bytes at a device address.
    fn place(&self, address: u64, bytes: usize) -> Result<*mut u8, String> {
        let place = find(&self.buffers, address, bytes);
        place.ok_or_else(|| "the address is in no buffer of the device".to_owned())
    }

    /// Creates a buffer of `bytes` bytes; returns its device address.
    fn buffer(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let bytes = bytes.max(64).next_multiple_of(64);
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let information = vk::BufferCreateInfo::default().size(bytes).usage(usage);
        // SAFETY: as in `open`; a failure leaves nothing behind.
        unsafe {
            let buffer = self.device.create_buffer(&information, None);
            let buffer = buffer.map_err(failed("making a buffer"))?;
            let needs = self.device.get_buffer_memory_requirements(buffer);
            let mut flags =
                vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let information = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(self.memory_type)
                .push_next(&mut flags);
            let memory = match self.device.allocate_memory(&information, None) {
                Ok(memory) => memory,
                Err(error) => {
                    self.device.destroy_buffer(buffer, None);
                    return Err(failed("allocating memory of the device")(error));
                }
            };
            let bound = self.device.bind_buffer_memory(buffer, memory, 0);
            let mapped = bound.and_then(|()| {
                let all = vk::MemoryMapFlags::empty();
                self.device.map_memory(memory, 0, vk::WHOLE_SIZE, all)
            });
            let mapped = match mapped {
                Ok(mapped) => mapped.cast::<u8>(),
                Err(error) => {
                    self.device.destroy_buffer(buffer, None);
                    self.device.free_memory(memory, None);
                    return Err(failed("mapping memory of the device")(error));
                }
            };
            let information = vk::BufferDeviceAddressInfo::default().buffer(buffer);
            let address = self.device.get_buffer_device_address(&information);
            self.buffers.push(Buffer { buffer, memory, address, bytes, mapped });
            Ok(address)
        }
    }

    fn pipeline(&mut self, kernel: usize) -> Result<vk::Pipeline, DeviceError> {
        if let Some(Some(known)) = self.pipelines.get(kernel) {
            return Ok(*known);
        }
        let name = self.kernels.get(kernel).ok_or(DeviceError::Driver {
            what: "launching a kernel",
            error: "there is no such kernel".to_owned(),
        })?;
        let name: &CStr = name;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.shader)
            .name(name);
        let information = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.layout)];
        // SAFETY: as in `open`.
        let made = unsafe {
            let none = vk::PipelineCache::null();
            self.device.create_compute_pipelines(none, &information, None)
        };
        let made = made.map_err(|(_, error)| failed("compiling a kernel")(error))?;
        let pipeline = made.first().copied().ok_or_else(|| nothing_made("compiling a kernel"))?;
        if let Some(slot) = self.pipelines.get_mut(kernel) {
            *slot = Some(pipeline);
        }
        Ok(pipeline)
    }

    fn add(&mut self, launch: &Launch) -> Result<(), DeviceError> {
        let bytes = argument_bytes(launch)?;
        if self.arguments + bytes > ARGUMENTS || self.launches >= LAUNCHES {
            self.flush()?;
        }
        let address = self.buffers.first().map(|first| first.address);
        let address = address.ok_or_else(no_arguments)? + self.arguments;
        // SAFETY: the command buffer is being recorded, and no submitted launch reads the memory of these arguments.
        unsafe { self.dispatch(self.commands, launch, address) }?;
        self.arguments += bytes;
        self.launches += 1;
        Ok(())
    }

    /// Adds a launch to a command buffer, with its arguments at an address, and a barrier.
    ///
    /// # Safety
    /// The command buffer is being recorded, and nothing reads the memory of the arguments.
    unsafe fn dispatch(
        &mut self,
        commands: vk::CommandBuffer,
        launch: &Launch,
        address: u64,
    ) -> Result<(), DeviceError> {
        let pipeline = self.pipeline(launch.kernel)?;
        let bytes = launch.words.len() * 8;
        let place = find(&self.buffers, address, bytes).ok_or_else(no_arguments)?;
        let both = vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE;
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(both)];
        let stage = vk::PipelineStageFlags::COMPUTE_SHADER;
        // SAFETY: the memory has this number of bytes; all else is a precondition.
        unsafe {
            let words = launch.words.as_ptr().cast::<u8>();
            std::ptr::copy_nonoverlapping(words, place, bytes);
            let device = &self.device;
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
            let constants = address.to_le_bytes();
            let computes = vk::ShaderStageFlags::COMPUTE;
            device.cmd_push_constants(commands, self.layout, computes, 0, &constants);
            device.cmd_dispatch(commands, launch.blocks, 1, 1);
            let after = stage | vk::PipelineStageFlags::HOST;
            let none = vk::DependencyFlags::empty();
            device.cmd_pipeline_barrier(commands, stage, after, none, &barrier, &[], &[]);
        }
        Ok(())
    }

    /// Records a command buffer with these launches.
    fn repeatable(&mut self, launches: &[Launch]) -> Result<usize, DeviceError> {
        let mut bytes = 0;
        for launch in launches {
            bytes += argument_bytes(launch)?;
        }
        let (commands, arguments) = (self.command_buffer()?, self.buffer(bytes)?);
        let at = self.repeated.len();
        self.repeated.push(Some((commands, arguments)));
        let mut address = arguments;
        // SAFETY: the command buffer and the arguments are new.
        unsafe {
            let information = vk::CommandBufferBeginInfo::default();
            let begun = self.device.begin_command_buffer(commands, &information);
            begun.map_err(failed("recording commands"))?;
            for launch in launches {
                self.dispatch(commands, launch, address)?;
                address += argument_bytes(launch)?;
            }
            let ended = self.device.end_command_buffer(commands);
            ended.map_err(failed("recording commands"))?;
        }
        Ok(at)
    }

    /// Frees the buffer at an address.
    fn free(&mut self, address: u64) {
        let position = self.buffers.iter().position(|b| b.address == address);
        // After a failure, the device does not use the buffer.
        let _ = self.flush();
        if let Some(at) = position.filter(|at| *at > 0) {
            let buffer = self.buffers.swap_remove(at);
            // SAFETY: no command is executing, and the buffer is not used again.
            unsafe {
                self.device.destroy_buffer(buffer.buffer, None);
                self.device.free_memory(buffer.memory, None);
            }
        }
    }
}

/// The length of a launch's arguments.
fn argument_bytes(launch: &Launch) -> Result<u64, DeviceError> {
    let bytes = u64::try_from(launch.words.len().max(1) * 8).unwrap_or(u64::MAX);
    if bytes <= ARGUMENTS {
        Ok(bytes)
    } else {
        Err(DeviceError::Driver { what: "launching a kernel", error: "it has too many arguments".to_owned() })
    }
}

fn no_arguments() -> DeviceError {
    DeviceError::Driver { what: "launching a kernel", error: "there is no memory for arguments".to_owned() }
}

impl Drop for Vulkan {
    fn drop(&mut self) {
        // SAFETY: the device waits for its work; every handle is of this device or null, and not used again.
        unsafe {
            let _ = self.device.device_wait_idle();
            for buffer in self.buffers.drain(..) {
                self.device.destroy_buffer(buffer.buffer, None);
                self.device.free_memory(buffer.memory, None);
            }
            for pipeline in self.pipelines.drain(..).flatten() {
                self.device.destroy_pipeline(pipeline, None);
            }
            self.device.destroy_shader_module(self.shader, None);
            self.device.destroy_pipeline_layout(self.layout, None);
            self.device.destroy_fence(self.fence, None);
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
        }
    }
}

impl Device for Vulkan {
    fn choice(&self) -> DeviceChoice {
        DeviceChoice::Vulkan(self.number)
    }

    fn iterations(&self) -> Option<i64> {
        self.iterations
    }

    fn allocate(&mut self, bytes: u64) -> Result<u64, String> {
        self.buffer(bytes).map_err(|e| e.to_string())
    }

    fn release(&mut self, address: u64) {
        self.free(address);
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), String> {
        self.flush().map_err(|e| e.to_string())?;
        let place = self.place(address, bytes.len())?;
        // SAFETY: the memory has this number of bytes, and no command is executing.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
        Ok(())
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), String> {
        self.flush().map_err(|e| e.to_string())?;
        let place = self.place(address, bytes.len())?;
        // SAFETY: as in `write`.
        unsafe { std::ptr::copy_nonoverlapping(place, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn copy(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), String> {
        self.flush().map_err(|e| e.to_string())?;
        let length = bytes as usize;
        let (from, to) = (self.place(from, length)?, self.place(to, length)?);
        // SAFETY: as in `write`; the ranges may overlap.
        unsafe { std::ptr::copy(from, to, length) };
        Ok(())
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), String> {
        self.add(launch).map_err(|e| e.to_string())
    }

    fn finish(&mut self) -> Result<(), String> {
        self.flush().map_err(|e| e.to_string())
    }

    fn record(&mut self, launches: &[Launch]) -> Result<Option<usize>, String> {
        self.repeatable(launches).map(Some).map_err(|e| e.to_string())
    }

    fn replay(&mut self, recorded: usize) -> Result<(), String> {
        self.flush().map_err(|e| e.to_string())?;
        let record = self.repeated.get(recorded).copied().flatten();
        let (commands, _) = record.ok_or("there is no such record")?;
        // SAFETY: it was recorded completely, and no command is executing.
        unsafe { self.submit(commands) }.map_err(|e| e.to_string())
    }

    fn discard(&mut self, recorded: usize) {
        let slot = self.repeated.get_mut(recorded);
        if let Some((commands, arguments)) = slot.and_then(Option::take) {
            // SAFETY: no command is executing between calls.
            unsafe {
                self.device.free_command_buffers(self.pool, &[commands]);
            }
            self.free(arguments);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opening_a_missing_device_is_an_error() {
        for _ in 0..2 {
            let opened = Vulkan::open(9999, &[], &[]);
            let error = opened.map(|device| device.name().to_owned()).unwrap_err();
            let is_refused = matches!(error, DeviceError::Missing { .. } | DeviceError::Number { .. });
            assert!(is_refused, "{error}");
        }
    }
}
