//! The plan of a sink: settings are read and checked, names looked up, interfaces found; nothing is changed yet.

use std::net::SocketAddr;

use anyhow::{Context, Result};

use crate::cli::SinkServeArgs;
use crate::config::{File, LogFormatName, ReportFormat, Settled, SinkConfig, settle};
use crate::daemon::collectors::Collectors;
use crate::daemon::newcomers::NamesInterfaces;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::kernel_half::Sink;
use crate::host;
use crate::host::advice::advise;
use crate::host::interfaces::named_by;
use crate::host::source::places::find_names;
use crate::model::{Classes, HostNode, ReportVersion, WatchPurpose, WatchRule};
use crate::os::{log, netdev};
use crate::report::{Destinations, LogFormat, LogSettings, ReportForm};

/// All that is known before a sink begins, or goes on with other settings.
#[derive(Clone)]
pub struct SinkPlan {
    /// What names the interfaces: some come later.
    words: Vec<String>,
    pub config: SinkConfig,
    pub node: HostNode,
    pub file: Option<File>,
    /// The file's rules, their names looked up.
    pub rules: Vec<WatchRule>,
    pub collectors: Collectors,
    pub destinations: Destinations,
}

impl SinkPlan {
    /// `pins` finds what is pinned on this host, whose node id is used if none is given.
    ///
    /// # Errors
    /// If the sink could not do what the plan says.
    pub fn make(pins: impl FnOnce() -> Result<Option<Pins>>, args: &SinkServeArgs) -> Result<Self> {
        let Settled { mut config, file } = settle(&args.settings, args.config.as_deref())?;
        let words = config.devs;
        config.devs = named_by(&words)?;
        let node = match config.node_id {
            Some(given) => HostNode::given(given),
            None => host::node::choose(pins()?.as_ref(), None)?,
        };
        let rules = File::rules_for(file.as_ref(), WatchPurpose::Int);
        let rules = find_names(rules)?;
        let collectors = Collectors::find(&config.collectors, config.spread)?;
        let destinations = Destinations {
            collectors: collectors.addresses(),
            spread: config.spread.then_some(node.id),
            form: ReportForm {
                version: match config.report_format {
                    ReportFormat::V05 => ReportVersion::V05,
                    ReportFormat::V10 => ReportVersion::V10,
                    ReportFormat::V20 => ReportVersion::V20,
                },
                dscp: config.mark.tos_value() >> 2,
            },
            report_to_sender: config.report_to_sender,
            log: config.report_log.clone().map(|path| LogSettings {
                path,
                format: match config.log_format {
                    LogFormatName::HostInt => LogFormat::HostInt,
                    LogFormatName::Json => LogFormat::Json,
                },
            }),
            classes: Classes::new(&rules),
        };
        for dev in &config.devs {
            check_device(dev)?;
        }
        Ok(Self {
            words,
            config,
            node,
            file,
            rules,
            collectors,
            destinations,
        })
    }

    /// Gives the host's programs the node id, the ports whose traffic is never tagged, and the key of lease messages.
    pub fn name_host(&self, sink: &Sink) -> Result<()> {
        let ports = self.destinations.collectors.iter().map(SocketAddr::port);
        let ports = self.config.report_ports(ports);
        sink.host.apply(self.node, &ports, self.config.lease_key)?;
        Ok(())
    }
}

/// What does not go out as asked.
pub fn say_form(config: &SinkConfig) {
    let sentence = match config.report_format {
        ReportFormat::V10 => {
            "losses are reported as v0.5, because v1.0 cannot say how many packets are lost"
        }
        ReportFormat::V20 if config.report_to_sender.is_some() => {
            "senders of packets get reports as v0.5; v2.0 is for collectors"
        }
        _ => return,
    };
    log::info(sentence);
    if !config.summary_period.0.is_zero() {
        log::info(
            "summaries of flows are sent as v0.5, because the standard has no report about a flow",
        );
    }
}

fn check_device(dev: &str) -> Result<()> {
    let ethernet = netdev::is_ethernet(dev)
        .map_err(advise)
        .with_context(|| format!("cannot use interface {dev}"))?;
    anyhow::ensure!(
        ethernet,
        "cannot use interface {dev}: its packets have no Ethernet header"
    );
    Ok(())
}

impl NamesInterfaces for SinkPlan {
    fn words(&self) -> &[String] {
        &self.words
    }

    fn devs(&self) -> &[String] {
        &self.config.devs
    }

    fn set_devs(&mut self, devs: Vec<String>) {
        self.config.devs = devs;
    }
}
