//! libbpf's messages, written to the log or collected for an error.

use std::sync::{Mutex, MutexGuard, PoisonError};

use libbpf_rs::{PrintLevel, set_print};

use crate::os::log;

/// The warnings since their collection began; `None` if they are not collected.
static COLLECTED: Mutex<Option<Vec<String>>> = Mutex::new(None);

fn collected() -> MutexGuard<'static, Option<Vec<String>>> {
    COLLECTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes libbpf write its messages to the log from now on: warnings as such, all others as debug lines.
pub(in crate::datapath) fn install() {
    let level = if log::is_debugging() {
        PrintLevel::Info
    } else {
        PrintLevel::Warn
    };
    set_print(Some((level, take)));
}

fn take(level: PrintLevel, text: String) {
    let text = text.trim_end();
    if level != PrintLevel::Warn {
        log::debug(|| text.to_owned());
        return;
    }
    let mut collected = collected();
    match &mut *collected {
        Some(warnings) => {
            warnings.push(text.to_owned());
            log::debug(|| text.to_owned());
        }
        None => log::warning(text),
    }
}

/// Collects libbpf's warnings during a call. They are debug lines meanwhile, because the caller decides what they mean.
pub(in crate::datapath) fn collect_warnings<T>(call: impl FnOnce() -> T) -> (T, Vec<String>) {
    install();
    *collected() = Some(Vec::new());
    let result = call();
    let warnings = collected().take();
    (result, warnings.unwrap_or_default())
}
