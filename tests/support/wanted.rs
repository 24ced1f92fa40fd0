//! The sections of a benchmark that its arguments name.

/// The arguments; none stand for all sections.
pub struct Wanted(Vec<String>);

impl Wanted {
    /// Ends the process if an argument names none of the sections.
    pub fn of<'a>(sections: impl IntoIterator<Item = &'a str> + Clone) -> Self {
        let arguments = std::env::args().skip(1);
        // cargo bench adds --bench
        let wanted: Vec<String> = arguments.filter(|name| name != "--bench").collect();
        let is_section = |name: &str| sections.clone().into_iter().any(|section| section == name);
        if let Some(name) = wanted.iter().find(|name| !is_section(name)) {
            let sections = Vec::from_iter(sections).join(", ");
            eprintln!("no section {name}; there are {sections}");
            std::process::exit(2);
        }
        Self(wanted)
    }

    pub fn are_all(&self) -> bool {
        self.0.is_empty()
    }

    pub fn name(&self, section: &str) -> bool {
        self.0.iter().any(|name| name == section)
    }

    /// Runs those that are named, or else all.
    pub fn run(sections: &[(&str, fn())]) {
        let wanted = Self::of(sections.iter().map(|(name, _)| *name));
        for (name, run) in sections {
            if wanted.are_all() || wanted.name(name) {
                run();
            }
        }
    }
}
