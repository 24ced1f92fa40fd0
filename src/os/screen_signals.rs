//! The signals to a program that uses the whole screen: it restores the screen before it ends or stops.

use std::io;
use std::thread;

use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::{Pid, getpid};

/// The request of a signal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ScreenSignal {
    End,
    Stop,
    /// The program was stopped and goes on. Another program may have used the screen meanwhile.
    GoOn,
}

/// Passes signals to `tell` from now on, instead of their usual effect. Must run before other threads are started.
pub fn listen(send: impl Fn(ScreenSignal) + Send + 'static) -> io::Result<()> {
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
            send(match signal {
                Signal::SIGTSTP => ScreenSignal::Stop,
                Signal::SIGCONT => ScreenSignal::GoOn,
                _ => ScreenSignal::End,
            });
        }
    })?;
    Ok(())
}

/// Asks this program to stop, and the programs that wait for it, as Ctrl-Z does.
pub fn ask_to_stop() -> io::Result<()> {
    Ok(kill(Pid::from_raw(0), Signal::SIGTSTP)?)
}

/// Stops this program until a signal lets it go on.
pub fn stop() -> io::Result<()> {
    Ok(kill(getpid(), Signal::SIGSTOP)?)
}
