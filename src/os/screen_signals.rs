//! Signals to a program that has the screen to itself: it gives the screen back before it ends or stops.

use std::io;
use std::thread;

use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::{Pid, getpid};

/// What a signal asks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Asked {
    End,
    Stop,
    /// It was stopped and goes on: the screen may be another's meanwhile.
    GoOn,
}

/// From now on signals are told, and do nothing else; to be called before other threads are started.
pub fn listen(tell: impl Fn(Asked) + Send + 'static) -> io::Result<()> {
    let mut signals = SigSet::empty();
    for signal in [
        Signal::SIGINT,
        Signal::SIGTERM,
        Signal::SIGHUP,
        Signal::SIGQUIT,
        Signal::SIGTSTP,
        Signal::SIGCONT,
    ] {
        signals.add(signal);
    }
    signals.thread_block()?;
    thread::Builder::new().spawn(move || {
        while let Ok(signal) = signals.wait() {
            tell(match signal {
                Signal::SIGTSTP => Asked::Stop,
                Signal::SIGCONT => Asked::GoOn,
                _ => Asked::End,
            });
        }
    })?;
    Ok(())
}

/// Asks this program to stop, and those that wait for it, as Ctrl-Z does where the terminal minds it.
pub fn ask_to_stop() -> io::Result<()> {
    Ok(kill(Pid::from_raw(0), Signal::SIGTSTP)?)
}

/// Stops this program until somebody lets it go on.
pub fn stop() -> io::Result<()> {
    Ok(kill(getpid(), Signal::SIGSTOP)?)
}
