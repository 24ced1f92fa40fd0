//! The terminal while it shows the view, and given back as it was, however that ends.

use std::io::{self, BufWriter, Stdout, Write};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use crate::views::watch::{KeyPress, Watch};

type Ours = Terminal<CrosstermBackend<BufWriter<Stdout>>>;

/// A terminal that is ours until this is dropped.
pub struct Screen {
    terminal: Ours,
}

fn terminal() -> io::Result<Ours> {
    Terminal::new(CrosstermBackend::new(BufWriter::new(io::stdout())))
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, Hide)
}

fn leave() -> io::Result<()> {
    let left = execute!(io::stdout(), Show, LeaveAlternateScreen);
    disable_raw_mode()?;
    left
}

/// Whichever thread panics, that is the end, and it is said on the terminal as it was before.
fn leave_on_panic() {
    let say = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |what| {
        let _ = leave();
        say(what);
        std::process::exit(101);
    }));
}

impl Screen {
    pub fn open() -> io::Result<Self> {
        leave_on_panic();
        let mut screen = Self {
            terminal: terminal()?,
        };
        screen.take()?;
        Ok(screen)
    }

    /// Takes the terminal, or takes it again.
    pub fn take(&mut self) -> io::Result<()> {
        enter()?;
        self.redraw()
    }

    /// Gives the terminal back for a while.
    pub fn give_back(&mut self) -> io::Result<()> {
        leave()
    }

    /// What is on the screen is not believed any more.
    pub fn redraw(&mut self) -> io::Result<()> {
        // Not `Terminal::clear`, which asks the terminal where its cursor is: the answer would come as keys.
        execute!(io::stdout(), Clear(ClearType::All))?;
        self.terminal = terminal()?;
        Ok(())
    }

    pub fn draw(&mut self, watch: &mut Watch) -> io::Result<()> {
        self.terminal.draw(|frame| watch.draw(frame))?;
        self.terminal.backend_mut().flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = leave();
    }
}

/// A key or an event at the terminal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Input {
    Key(KeyPress),
    Resize,
    Redraw,
    Stop,
    Quit,
}

/// What an event means, if it means anything.
pub fn input(event: &Event) -> Option<Input> {
    match event {
        Event::Resize(..) => Some(Input::Resize),
        Event::Key(key) if key.kind != KeyEventKind::Release => of_key(*key),
        _ => None,
    }
}

fn of_key(event: KeyEvent) -> Option<Input> {
    if event.modifiers.contains(KeyModifiers::CONTROL) {
        return match event.code {
            KeyCode::Char('c') => Some(Input::Quit),
            KeyCode::Char('z') => Some(Input::Stop),
            KeyCode::Char('l') => Some(Input::Redraw),
            _ => None,
        };
    }
    let key = match event.code {
        KeyCode::Up => KeyPress::Up,
        KeyCode::Down => KeyPress::Down,
        KeyCode::PageUp => KeyPress::PageUp,
        KeyCode::PageDown => KeyPress::PageDown,
        KeyCode::Home => KeyPress::Home,
        KeyCode::End => KeyPress::End,
        KeyCode::Enter => KeyPress::Enter,
        KeyCode::Esc => KeyPress::Escape,
        KeyCode::Backspace => KeyPress::Backspace,
        KeyCode::Tab => KeyPress::Tab,
        KeyCode::BackTab => KeyPress::BackTab,
        KeyCode::Char(char) => KeyPress::Char(char),
        _ => return None,
    };
    Some(Input::Key(key))
}
