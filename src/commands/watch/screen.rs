//! The full-screen view: looks, keys and signals come in, and the screen is drawn.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ratatui::crossterm::event;

use super::look::Looker;
use super::terminal::{Input, Screen, input};
use crate::cli::{StatusArgs, StatusOrder, exit};
use crate::model::{HostStatus, NodeId};
use crate::os::clock;
use crate::os::screen_signals::{self, ScreenSignal};
use crate::views::watch::{Act, Appearance, FlowColumn, HostSnapshot, SentPaths, Watch};

/// Nothing is due.
const LONG: Duration = Duration::from_secs(3600);

/// What comes in.
enum Message {
    Input(Input),
    Seen(Result<Box<HostSnapshot>>),
    Signal(ScreenSignal),
}

pub fn run(looker: Looker, args: &StatusArgs, interval: Duration) -> Result<u8> {
    let begin = Instant::now();
    // A user who may not look is refused before the screen is taken.
    let first = looker.all()?;
    let (tell, messages) = mpsc::channel();
    let signals = tell.clone();
    screen_signals::listen(move |asked| drop(signals.send(Message::Signal(asked))))
        .context("cannot wait for signals")?;
    let mut screen = Screen::open().context("cannot take the terminal")?;
    let mut watch = Watch::new(terminal_look(), interval, sort(args.sort));
    watch.update(snapshot(first, None, begin));
    read_keys(tell.clone()).context("cannot start a thread for keys")?;
    let ask = looks(looker, begin, tell).context("cannot start a thread to look")?;
    let ended = show(&mut screen, &mut watch, &messages, &ask);
    drop(screen);
    ended.context("cannot draw on the terminal")?;
    Ok(exit::OK)
}

fn snapshot(status: HostStatus, told: Option<SentPaths>, begin: Instant) -> HostSnapshot {
    HostSnapshot {
        status,
        told,
        at: begin.elapsed(),
        wall_ns: clock::realtime_ns(),
    }
}

fn sort(order: StatusOrder) -> FlowColumn {
    match order {
        StatusOrder::Loss => FlowColumn::LossNow,
        StatusOrder::Latency => FlowColumn::P99,
        StatusOrder::Packets => FlowColumn::Rate,
    }
}

/// What the environment says of the terminal.
fn terminal_look() -> Appearance {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let locale = locale.unwrap_or_default().to_lowercase();
    Appearance {
        colour: set("NO_COLOR").is_none(),
        unicode: locale.contains("utf-8") || locale.contains("utf8"),
    }
}

fn read_keys(tell: Sender<Message>) -> io::Result<()> {
    thread::Builder::new().spawn(move || {
        loop {
            let message = match event::read() {
                Ok(event) => match input(&event) {
                    Some(input) => Message::Input(input),
                    None => continue,
                },
                // The terminal is gone.
                Err(_) => Message::Signal(ScreenSignal::End),
            };
            let over = matches!(message, Message::Signal(_));
            if tell.send(message).is_err() || over {
                return;
            }
        }
    })?;
    Ok(())
}

/// The node whose packets' ways are asked of a history, if any are.
type Asked = Option<NodeId>;

/// A thread that looks whenever it is asked to: a slow daemon does not hold up keys.
fn looks(looker: Looker, begin: Instant, tell: Sender<Message>) -> io::Result<Sender<Asked>> {
    let (ask, asked) = mpsc::channel::<Asked>();
    thread::Builder::new().spawn(move || {
        while let Ok(source) = asked.recv() {
            let seen = looker.all().map(|status| {
                let told = source.and_then(|source| looker.paths(source, &status));
                Box::new(snapshot(status, told, begin))
            });
            if tell.send(Message::Seen(seen)).is_err() {
                return;
            }
        }
    })?;
    Ok(ask)
}

fn show(
    screen: &mut Screen,
    watch: &mut Watch,
    messages: &Receiver<Message>,
    ask: &Sender<Asked>,
) -> io::Result<()> {
    let mut due = Instant::now() + watch.interval;
    let mut looking = false;
    loop {
        screen.draw(watch)?;
        let mut wait = match (watch.paused, looking) {
            (false, false) => due.saturating_duration_since(Instant::now()),
            _ => LONG,
        };
        // All that came is taken before it is drawn.
        loop {
            match messages.recv_timeout(wait) {
                Ok(Message::Input(Input::Key(key))) => match watch.press(key) {
                    Act::Quit => return Ok(()),
                    Act::Refresh => due = Instant::now(),
                    Act::Nothing => {}
                },
                Ok(Message::Input(Input::Quit) | Message::Signal(ScreenSignal::End)) => {
                    return Ok(());
                }
                Ok(Message::Input(Input::Stop)) => screen_signals::ask_to_stop()?,
                Ok(Message::Input(Input::Redraw)) => screen.redraw()?,
                Ok(Message::Input(Input::Resize)) => {}
                Ok(Message::Signal(ScreenSignal::Stop)) => {
                    screen.give_back()?;
                    screen_signals::stop()?;
                }
                Ok(Message::Signal(ScreenSignal::GoOn)) => {
                    // Whoever had the terminal meanwhile left it as it likes it.
                    screen.give_back()?;
                    screen.take()?;
                }
                Ok(Message::Seen(seen)) => {
                    looking = false;
                    match seen {
                        Ok(snapshot) => watch.update(*snapshot),
                        Err(err) => watch.fail(format!("{err:#}")),
                    }
                }
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            wait = Duration::ZERO;
        }
        if !watch.paused && !looking && Instant::now() >= due {
            looking = ask.send(watch.asked_paths()).is_ok();
            due = (due + watch.interval).max(Instant::now());
        }
    }
}
