//! The plan of a source: settings are read and checked, names looked up, interfaces found; nothing is changed yet.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};

use crate::cli::SourceServeArgs;
use crate::config::{File, Settled, SourceSetup, report_ports, settle};
use crate::daemon::collectors::Collectors;
use crate::daemon::newcomers::NamesInterfaces;
use crate::host::advice::advise;
use crate::host::interfaces::named_by;
use crate::host::source::forms::check_rules;
use crate::host::source::places::{find_names, find_places, read_dest_file};
use crate::model::{RuleHost, WatchPurpose, WatchRule};
use crate::os::netdev;

/// All that is known before a source is attached, or goes on with other settings.
#[derive(Clone)]
pub struct SourcePlan {
    /// What names the interfaces: some come later.
    words: Vec<String>,
    pub setup: SourceSetup,
    pub file: Option<File>,
    /// The file's rules, their names looked up.
    pub rules: Vec<WatchRule>,
    /// The destinations of --dest-file.
    pub places: Vec<RuleHost>,
    /// The addresses of the collectors.
    pub collectors: Vec<SocketAddr>,
}

impl SourcePlan {
    /// # Errors
    /// If the source could not do what the plan says.
    pub fn make(args: &SourceServeArgs) -> Result<Self> {
        let Settled {
            config: mut setup,
            file,
        } = settle(&args.settings, args.config.as_deref())?;
        let words = setup.devs;
        setup.devs = named_by(&words)?;
        let names = match &setup.dest_file {
            Some(path) => read_dest_file(path)?,
            None => Vec::new(),
        };
        let places = find_places(&names)?;
        for dev in &setup.devs {
            let ethernet = netdev::is_ethernet(dev)
                .map_err(advise)
                .with_context(|| format!("cannot use interface {dev}"))?;
            if !ethernet {
                bail!("cannot use interface {dev}: its packets have no Ethernet header");
            }
        }
        let rules = File::rules_for(file.as_ref(), WatchPurpose::Int);
        let rules = find_names(rules)?;
        check_rules(&setup.source, &rules)?;
        let collectors = Collectors::find(&setup.collectors, false)?.addresses();
        Ok(Self {
            words,
            setup,
            file,
            rules,
            places,
            collectors,
        })
    }

    /// The ports whose traffic is never tagged.
    pub fn report_ports(&self) -> Vec<u16> {
        report_ports(self.collectors.iter().map(SocketAddr::port))
    }

    /// The destinations of --dest-file, and whether they are tagged without a lease.
    pub fn dests(&self) -> (&[RuleHost], bool) {
        (&self.places, self.setup.fixed)
    }
}

impl NamesInterfaces for SourcePlan {
    fn words(&self) -> &[String] {
        &self.words
    }

    fn devs(&self) -> &[String] {
        &self.setup.devs
    }

    fn set_devs(&mut self, devs: Vec<String>) {
        self.setup.devs = devs;
    }
}
