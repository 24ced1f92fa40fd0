//! The kernel's names of its reasons for drops, as the running kernel and its modules describe them.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::ptr::NonNull;

use libbpf_rs::libbpf_sys;

use crate::datapath::abi::drop_limit;
use crate::datapath::kernel::libbpf_log::collect_warnings;
use crate::model::KernelReason;

/// The folder of the types of the kernel and of each module.
const TYPES: &str = "/sys/kernel/btf";
/// The enums of reasons end with this; those of subsystems begin with their name.
const ENUM: &str = "drop_reason";
/// What the kernel's names begin with, which is left out.
const PREFIXES: [&str; 3] = ["SKB_DROP_REASON_", "SKB_", "___"];
/// Enumerators that are no reasons.
const NO_REASONS: [&str; 3] = ["MAX", "SUBSYS_MASK", "NOT_DROPPED_YET"];

/// The slots that a subsystem's reasons have, and the number of subsystems.
const SLOTS: u32 = drop_limit::DROP_REASONS.0;
const SUBSYSTEMS: u32 = drop_limit::DROP_SUBSYSTEMS.0;

/// The names of reasons, by number.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DropReasonNames {
    names: BTreeMap<u32, String>,
}

/// A description of types.
struct Types {
    btf: NonNull<libbpf_sys::btf>,
}

impl Drop for Types {
    fn drop(&mut self) {
        // SAFETY: it was loaded by this type, and is used by nothing else.
        unsafe { libbpf_sys::btf__free(self.btf.as_ptr()) };
    }
}

impl Types {
    fn of_kernel() -> Option<Self> {
        // SAFETY: no arguments.
        let (btf, _) = collect_warnings(|| unsafe { libbpf_sys::btf__load_vmlinux_btf() });
        NonNull::new(btf).map(|btf| Self { btf })
    }

    /// The types of a module, which go on from those of the kernel.
    fn of_module(path: &CStr, kernel: &Self) -> Option<Self> {
        // SAFETY: the path is NUL-terminated, and the kernel's types outlive the call and the result.
        let btf = unsafe { libbpf_sys::btf__parse_split(path.as_ptr(), kernel.btf.as_ptr()) };
        NonNull::new(btf).map(|btf| Self { btf })
    }

    fn count(&self) -> u32 {
        // SAFETY: the types are loaded.
        unsafe { libbpf_sys::btf__type_cnt(self.btf.as_ptr()) }
    }

    fn name_at(&self, offset: u32) -> String {
        // SAFETY: libbpf returns NULL, or a terminated text that lives as long as the types.
        unsafe {
            let name = libbpf_sys::btf__name_by_offset(self.btf.as_ptr(), offset);
            if name.is_null() {
                return String::new();
            }
            CStr::from_ptr(name).to_string_lossy().into_owned()
        }
    }

    /// Visits the enumerators of each enum of reasons from the type `first` on.
    fn visit_reasons(&self, first: u32, mut visit: impl FnMut(u32, String)) {
        for id in first..self.count() {
            // SAFETY: the id is one of these types'; an enum's type is followed by as many enumerators as its
            // lower 16 bits of info say, all in libbpf's memory, which lives as long as the types.
            unsafe {
                let found = libbpf_sys::btf__type_by_id(self.btf.as_ptr(), id);
                let Some(found) = found.as_ref() else {
                    continue;
                };
                if found.info >> 24 & 0x1f != libbpf_sys::BTF_KIND_ENUM
                    || !self.name_at(found.name_off).ends_with(ENUM)
                {
                    continue;
                }
                let begin = std::ptr::from_ref(found).add(1).cast();
                let count = (found.info & 0xffff) as usize;
                let all: &[libbpf_sys::btf_enum] = std::slice::from_raw_parts(begin, count);
                for one in all {
                    visit(one.val.cast_unsigned(), self.name_at(one.name_off));
                }
            }
        }
    }
}

/// Returns the number of values that the kernel's tracepoint of drops tells, or `None` if there is none.
pub fn reported_by_tracepoint() -> Option<u32> {
    let types = Types::of_kernel()?;
    // SAFETY: ids are checked by libbpf, which returns NULL for one that is none.
    unsafe {
        let find = |name: &CStr, kind| {
            libbpf_sys::btf__find_by_name_kind(types.btf.as_ptr(), name.as_ptr(), kind)
        };
        let typedef = find(c"btf_trace_kfree_skb", libbpf_sys::BTF_KIND_TYPEDEF);
        let id = u32::try_from(typedef).ok()?;
        let at = |id| libbpf_sys::btf__type_by_id(types.btf.as_ptr(), id).as_ref();
        let pointer = at(id)?.__bindgen_anon_1.type_;
        let function = at(pointer)?.__bindgen_anon_1.type_;
        // The first parameter is the tracepoint's own.
        (at(function)?.info & 0xffff).checked_sub(1)
    }
}

impl DropReasonNames {
    /// Reads the names of the running kernel and its modules.
    pub fn read() -> Self {
        let mut names = BTreeMap::new();
        let mut take = |number: u32, name: String| {
            let short = PREFIXES
                .iter()
                .find_map(|prefix| name.strip_prefix(prefix))
                .unwrap_or(&name);
            if !NO_REASONS.contains(&short) {
                names.entry(number).or_insert_with(|| short.to_owned());
            }
        };
        let Some(kernel) = Types::of_kernel() else {
            return Self::default();
        };
        kernel.visit_reasons(1, &mut take);
        for path in module_paths().unwrap_or_default() {
            if let Some(module) = Types::of_module(&path, &kernel) {
                module.visit_reasons(kernel.count(), &mut take);
            }
        }
        Self { names }
    }

    /// True if the kernel has reasons; before 5.17 it has none.
    pub fn exist(&self) -> bool {
        !self.names.is_empty()
    }

    /// The number of reasons that have a name.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    pub fn reason(&self, number: u32) -> KernelReason {
        KernelReason {
            number,
            name: self.names.get(&number).cloned(),
        }
    }

    /// The number of a reason by its name, with or without the prefix that the kernel's source gives it.
    pub fn number(&self, name: &str) -> Option<u32> {
        let short = name.strip_prefix(PREFIXES[0]).unwrap_or(name);
        let mut all = self.names.iter();
        all.find(|(_, known)| *known == short)
            .map(|(number, _)| *number)
    }
}

fn module_paths() -> io::Result<Vec<CString>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(TYPES)? {
        let path = entry?.path();
        if !path.ends_with("vmlinux") {
            found.extend(CString::new(path.as_os_str().as_bytes()));
        }
    }
    Ok(found)
}

/// The slot in which packets of a reason are counted.
pub(in crate::datapath) fn slot_of(number: u32) -> u32 {
    let (subsystem, number) = (number >> 16, number & 0xffff);
    if subsystem >= SUBSYSTEMS || number >= SLOTS {
        return 0;
    }
    subsystem * SLOTS + number
}

/// The reason of a slot.
pub(in crate::datapath) fn number_of(slot: u32) -> u32 {
    ((slot / SLOTS) << 16) | (slot % SLOTS)
}
