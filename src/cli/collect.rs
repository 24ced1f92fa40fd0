//! The command line of `hostint collect`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::history_args::NodeArg;
use crate::config::{CollectOptions, ESSENTIALS, OUTPUT, Overrides};
use crate::model::{REPORT_KINDS, SearchWords};

/// `hostint collect`
#[derive(Args, Clone, Debug)]
pub struct CollectArgs {
    /// Read settings from [collect] and [[watch]] of this TOML file; flags override them. SIGHUP reloads the file
    #[arg(long, value_name = "FILE", env = "HOSTINT_CONFIG", hide_env = true, help_heading = ESSENTIALS)]
    pub config: Option<PathBuf>,

    #[command(flatten)]
    pub settings: Overrides<CollectOptions>,

    /// Read reports and TCP option 114 from a capture (pcap, pcapng), or hostint's JSON lines; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "listen")]
    pub read: Option<PathBuf>,

    /// With --read: UDP port of the reports in a capture; may be repeated [default: 32766]
    #[arg(long, value_name = "PORT", requires = "read")]
    pub port: Vec<u16>,

    #[command(flatten)]
    pub lines: LineArgs,

    /// Exit after this many datagrams
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
}

/// The reports that are printed; the history and engines get all.
#[derive(Args, Clone, Debug, Default)]
pub struct LineArgs {
    /// Print totals, too, which hosts repeat each period: flow-summary, group-summary, host-hop and tcp. --json and
    /// --kind do not leave them out
    #[arg(long, help_heading = OUTPUT)]
    pub all: bool,

    /// Print only reports of these kinds, as "kind" in JSON names them
    #[arg(long, help_heading = OUTPUT, value_name = "KIND", value_delimiter = ',')]
    #[arg(value_parser = PossibleValuesParser::new(REPORT_KINDS), hide_possible_values = true)]
    pub kind: Vec<String>,

    /// Print only reports about one of these nodes, by its id or its name
    #[arg(long, help_heading = OUTPUT, value_name = "NODE", value_delimiter = ',')]
    pub node: Vec<NodeArg>,

    /// Print only reports about a flow whose text has all these words: addresses, ports, protocols, or parts of them;
    /// several such texts with commas between them
    #[arg(long, help_heading = OUTPUT, value_name = "WORDS", value_delimiter = ',')]
    pub flow: Vec<SearchWords>,
}

impl LineArgs {
    /// Whether the user chose what is printed.
    pub fn is_chosen(&self) -> bool {
        self.all || self.is_filter()
    }

    /// Whether some reports are left out whatever the form of lines is.
    pub fn is_filter(&self) -> bool {
        !(self.kind.is_empty() && self.node.is_empty() && self.flow.is_empty())
    }
}
