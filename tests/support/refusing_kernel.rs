//! Kernels that refuse: what a thread, and all that it starts, asks by bpf(2) is refused by a list before the kernel sees it.
//!
//! The thread gets a seccomp filter that hands its calls on to a supervisor. So hardened kernels are tried with the binary as it
//! is, which has no switch for tests.

use std::ffi::CStr;
use std::io::{IoSlice, IoSliceMut, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use libbpf_rs::libbpf_sys as sys;
use nix::libc;
use nix::sys::uio::{RemoteIoVec, process_vm_readv, process_vm_writev};
use nix::unistd::Pid;

/// What a kernel refuses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refused {
    /// All programs of a type: `BPF_PROG_TYPE_XDP`.
    Type(u32),
    /// Programs for one place of the kernel, by its name in libbpf's sections: `tp_btf/kfree_skb`, `iter/task`.
    Place(&'static str),
    /// Programs for all such places: `iter/`, `tp_btf/`.
    Places(&'static str),
    /// A program of this name, as the verifier of another version might.
    Program(&'static str),
    /// Programs by which a helper is looked for: `BPF_FUNC_skb_set_tstamp`. Others may call it in code that the verifier takes out,
    /// because constants say that there is no such helper.
    Helper(u32),
    /// Maps of a type: `BPF_MAP_TYPE_RINGBUF`.
    Map(u32),
    /// A command: `BPF_MAP_LOOKUP_BATCH`.
    Command(u32),
    /// Attaching programs at a place of a type: `BPF_TCX_INGRESS`.
    Attachment(u32),
}

impl Refused {
    /// The commands that may ask for it.
    fn commands(self) -> Vec<u32> {
        match self {
            Self::Type(_)
            | Self::Place(_)
            | Self::Places(_)
            | Self::Program(_)
            | Self::Helper(_) => {
                vec![sys::BPF_PROG_LOAD]
            }
            Self::Map(_) => vec![sys::BPF_MAP_CREATE],
            Self::Command(command) => vec![command],
            Self::Attachment(_) => vec![sys::BPF_LINK_CREATE, sys::BPF_PROG_ATTACH],
        }
    }

    fn is_asked_for(self, call: &Call) -> bool {
        let word = |at: usize| {
            let bytes = call.attributes.get(at..at + 4);
            bytes.map_or(0, |bytes| u32::from_ne_bytes(bytes.try_into().unwrap()))
        };
        match self {
            Self::Command(_) => true,
            Self::Map(kind) => word(0) == kind,
            Self::Type(kind) => word(0) == kind,
            Self::Attachment(kind) => word(8) == kind,
            Self::Place(place) => place_of(word(ATTACH_TYPE), word(ATTACH_BTF_ID)) == place,
            Self::Places(prefix) => {
                place_of(word(ATTACH_TYPE), word(ATTACH_BTF_ID)).starts_with(prefix)
            }
            Self::Program(name) => {
                let given = call
                    .attributes
                    .get(NAME..NAME + NAME_BYTES)
                    .unwrap_or_default();
                let given = given.split(|byte| *byte == 0).next().unwrap_or_default();
                given == &name.as_bytes()[..name.len().min(NAME_BYTES - 1)]
            }
            Self::Helper(helper) => call.helpers().contains(&helper),
        }
    }
}

// Places in union bpf_attr of linux/bpf.h, for BPF_PROG_LOAD.
const INSTRUCTIONS: usize = 8;
const LOG: usize = 32;
/// The most instructions of a program that looks for a helper.
const PROBE: usize = 8;
const NAME: usize = 48;
const NAME_BYTES: usize = 16;
const ATTACH_TYPE: usize = 68;
const ATTACH_BTF_ID: usize = 108;

/// One call of bpf(2).
struct Call {
    process: Pid,
    attributes: Vec<u8>,
}

impl Call {
    /// The helpers that a program of a few instructions calls.
    fn helpers(&self) -> Vec<u32> {
        const CALL: u8 = 0x85;
        let count = u32::from_ne_bytes(self.attributes[4..8].try_into().unwrap()) as usize;
        if count > PROBE {
            return Vec::new();
        }
        let at = self.attributes[INSTRUCTIONS..INSTRUCTIONS + 8]
            .try_into()
            .unwrap();
        let code = read(self.process, usize::from_ne_bytes(at), count * 8).unwrap_or_default();
        code.chunks_exact(8)
            .filter(|one| one[0] == CALL && one[1] >> 4 == 0)
            .map(|one| u32::from_ne_bytes(one[4..8].try_into().unwrap()))
            .collect()
    }
}

impl Call {
    /// Writes what the verifier would into the log of the program that is loaded, if it has one.
    fn log(&self, text: &[u8]) {
        let at = self.attributes.get(LOG..LOG + 8).unwrap_or_default();
        let Ok(base) = at.try_into().map(usize::from_ne_bytes) else {
            return;
        };
        let to = [RemoteIoVec {
            base,
            len: text.len(),
        }];
        // A call without a log has 0 there.
        let _ = process_vm_writev(self.process, &[IoSlice::new(text)], &to);
    }
}

/// The place of a tracing program, as libbpf's sections name it; empty for other programs.
fn place_of(attach_type: u32, btf_id: u32) -> String {
    let (prefix, kernel_prefix) = match attach_type {
        sys::BPF_TRACE_ITER => ("iter/", "bpf_iter_"),
        sys::BPF_TRACE_RAW_TP => ("tp_btf/", "btf_trace_"),
        _ => return String::new(),
    };
    static TYPES: OnceLock<usize> = OnceLock::new();
    // SAFETY: libbpf reads the kernel's types once; they are never freed or changed.
    let types = *TYPES.get_or_init(|| unsafe { sys::btf__load_vmlinux_btf() } as usize);
    let types = types as *const sys::btf;
    // SAFETY: the types live as long as the process, and so do their names.
    let name = unsafe {
        let kind = sys::btf__type_by_id(types, btf_id);
        if kind.is_null() {
            return String::new();
        }
        let name = sys::btf__name_by_offset(types, (*kind).name_off);
        if name.is_null() {
            return String::new();
        }
        CStr::from_ptr(name).to_string_lossy()
    };
    format!("{prefix}{}", name.trim_start_matches(kernel_prefix))
}

fn read(process: Pid, at: usize, len: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    let from = [RemoteIoVec { base: at, len }];
    let read = process_vm_readv(process, &mut [IoSliceMut::new(&mut bytes)], &from)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// Runs a closure on a kernel that refuses these with EPERM, whatever the privileges are, and helpers as an older verifier does.
/// What it starts stays there.
pub fn under<T: Send>(refused: &[Refused], run: impl FnOnce() -> T + Send) -> T {
    let (hand_over, listener) = channel();
    let list = refused.to_vec();
    // It begins before there is a filter, which threads inherit.
    thread::spawn(move || {
        if let Ok(listener) = listener.recv() {
            supervise(&listener, &list);
        }
    });
    thread::scope(|scope| {
        let filtered = scope.spawn(|| {
            install(refused, &hand_over);
            run()
        });
        match filtered.join() {
            Ok(result) => result,
            Err(panicked) => std::panic::resume_unwind(panicked),
        }
    })
}

/// Sets the filter of this thread.
fn install(refused: &[Refused], hand_over: &Sender<OwnedFd>) {
    let mut commands: Vec<u32> = refused.iter().flat_map(|one| one.commands()).collect();
    commands.sort_unstable();
    commands.dedup();
    let statement = |code: u32, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let jump = |k: u32, jt: usize, jf: usize| libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: jt as u8,
        jf: jf as u8,
        k,
    };
    let count = commands.len();
    // struct seccomp_data: the number of the call, and its first argument.
    let mut filter = vec![
        statement(load, 0),
        jump(libc::SYS_bpf as u32, 0, count + 1),
        statement(load, 16),
    ];
    for (n, command) in commands.iter().enumerate() {
        filter.push(jump(*command, count - n, 0));
    }
    filter.push(statement(libc::BPF_RET, libc::SECCOMP_RET_ALLOW));
    filter.push(statement(libc::BPF_RET, libc::SECCOMP_RET_USER_NOTIF));
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the filter outlives the call, which copies it; it is for this thread alone.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &program,
        )
    };
    assert!(fd >= 0, "seccomp: {}", std::io::Error::last_os_error());
    // SAFETY: the descriptor is new, and nothing else owns it.
    let listener = unsafe { OwnedFd::from_raw_fd(fd as i32) };
    hand_over.send(listener).expect("the supervisor waits");
}

nix::ioctl_readwrite!(receive_call, b'!', 0, libc::seccomp_notif);
nix::ioctl_readwrite!(send_answer, b'!', 1, libc::seccomp_notif_resp);

/// Answers calls until the last thread with the filter is gone.
fn supervise(listener: &OwnedFd, refused: &[Refused]) {
    let fd = listener.as_raw_fd();
    loop {
        let mut wait = libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one descriptor, which is open.
        unsafe { libc::poll(&raw mut wait, 1, -1) };
        if wait.revents & libc::POLLIN == 0 {
            if wait.revents != 0 {
                return;
            }
            continue;
        }
        // SAFETY: plain data; the kernel wants it zeroed.
        let mut notice: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the structs are the kernel's, and outlive the calls.
        if unsafe { receive_call(fd, &raw mut notice) }.is_err() {
            continue;
        }
        let error = error_of(&notice, refused);
        let mut answer = libc::seccomp_notif_resp {
            id: notice.id,
            val: 0,
            error: -error,
            flags: match error {
                0 => libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
                _ => 0,
            },
        };
        // Its caller may be gone.
        // SAFETY: as above.
        let _ = unsafe { send_answer(fd, &raw mut answer) };
    }
}

/// The error of a call that is refused; 0 if it is none.
fn error_of(notice: &libc::seccomp_notif, refused: &[Refused]) -> i32 {
    let [command, attributes, len, ..] = notice.data.args;
    let process = Pid::from_raw(notice.pid as i32);
    let Ok(attributes) = read(process, attributes as usize, len as usize) else {
        return 0;
    };
    let call = Call {
        process,
        attributes,
    };
    let command = command as u32;
    let found = refused
        .iter()
        .find(|one| one.commands().contains(&command) && one.is_asked_for(&call));
    match found {
        None => 0,
        Some(Refused::Helper(_)) => {
            call.log(b"unknown func refused#0\0");
            libc::EINVAL
        }
        Some(_) => libc::EPERM,
    }
}
